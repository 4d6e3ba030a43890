// The what-if page: asks while a person looks, shows answers as they are found, and keeps nothing but in this window.

const body = document.body;
const words = JSON.parse(body.dataset.words);
const say = english => words[english] ?? english;
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const made = (name, facts = {}, ...children) => {
  const one = Object.assign(document.createElement(name), facts);
  one.append(...children);
  return one;
};
const headers = () => ({ "content-type": "application/json", "x-csrf-token": find("meta[name=csrf]")?.content ?? "" });
const post = (path, sent, more = {}, signal = undefined) =>
  fetch(path, { method: "POST", headers: { ...headers(), ...more }, body: JSON.stringify(sent), signal });

// ---- a token in the fragment of the address is exchanged for a cookie, and leaves the address -----------------------

async function signIn(token) {
  const reply = await post("/session", { token });
  if (reply.ok) {
    location.replace("/");
  } else {
    find("#problem").textContent = say("The token is not known.");
  }
}

const fragment = new URLSearchParams(location.hash.slice(1));
if (fragment.has("token")) {
  history.replaceState(null, "", location.pathname + location.search);
  signIn(fragment.get("token"));
}
find("#sign-in")?.addEventListener("submit", event => {
  event.preventDefault();
  signIn(find("[name=token]", event.target).value);
});

// ---- the question in the form --------------------------------------------------------------------------------------

const form = find("#ask");
const columns = form ? JSON.parse(body.dataset.columns) : [];
const own = form ? JSON.parse(body.dataset.values) : {};
const parts = new Map(all("[data-column]").map(one => [one.dataset.column, one]));
const changed = new Set(); // the columns whose value was changed by hand

function valueOf(column) {
  if (!changed.has(column.name)) return own[column.name];
  const given = find("[data-value]", parts.get(column.name)).value;
  if (given === "") return null;
  return column.levels ? column.levels[Number(given)] : Number(given);
}

function numberIn(part, name) {
  const given = find(`[data-${name}]`, part)?.value ?? "";
  return given === "" ? null : Number(given);
}

function conditions(column) {
  const part = parts.get(column.name);
  const found = {};
  const [from, to, price] = ["from", "to", "price"].map(name => numberIn(part, name));
  const direction = find("[data-direction]", part)?.value;
  if (find("[name=lock]:enabled", part)?.checked) found.frozen = true; // what the rules keep is asked in any case
  if (direction) found.direction = direction;
  if (from !== null || to !== null) found.range = [from ?? column.low, to ?? column.high];
  if (price !== null) found.price = price;
  return found;
}

function question() {
  const asked = { language: body.dataset.language, k: Number(find("#k").value) || 1, region: true, card: true, columns: {} };
  asked.row = changed.size ? Object.fromEntries(columns.map(one => [one.name, valueOf(one)])) : Number(body.dataset.row);
  for (const column of columns) {
    const said = conditions(column);
    if (Object.keys(said).length) asked.columns[column.name] = said;
  }
  const target = find("[name=target]", form), least = find("#probability"), value = find("#at-least");
  const place = target?.selectedIndex > 0 ? classes()[target.selectedIndex - 1] : null;
  if (place !== null) asked.target = least?.value ? { class: place, probability: Number(least.value) } : place;
  if (value?.value) asked.target = { at_least: Number(value.value) };
  return asked;
}

const classes = () => all("[name=target] option", form).slice(1).map(one => (/^-?\d+$/.test(one.value) ? Number(one.value) : one.value));

// ---- what the form was, to go back to, and to share ----------------------------------------------------------------

const past = [];
const fields = () => all("input:not([type=hidden]), select", form);
const snapshot = () => ({ fields: fields().map(one => (one.type === "checkbox" ? one.checked : one.value)), changed: [...changed] });

function restore(state) {
  fields().forEach((one, at) => {
    if (one.type === "checkbox") one.checked = state.fields[at];
    else one.value = state.fields[at];
  });
  changed.clear();
  state.changed.forEach(name => changed.add(name));
  all("[data-column]").forEach(part => part.classList.toggle("changed", changed.has(part.dataset.column)));
  scored();
}

function remember() {
  past.push(snapshot());
  find("#undo").disabled = false;
}

/** The state of the page without values of a person: which row, and what is asked of it. */
function link() {
  const asked = question();
  const state = new URLSearchParams({ asked: JSON.stringify({ columns: asked.columns, target: asked.target, k: asked.k }) });
  return `${location.origin}/?row=${body.dataset.row}&language=${body.dataset.language}#${state}`;
}

function restoreLink() {
  if (!fragment.has("asked")) return;
  const asked = JSON.parse(fragment.get("asked"));
  for (const [name, said] of Object.entries(asked.columns ?? {})) {
    const part = parts.get(name);
    if (!part) continue;
    find("[name=lock]", part).checked = Boolean(said.frozen);
    if (find("[data-direction]", part)) find("[data-direction]", part).value = said.direction ?? "";
    if (said.range) [find("[data-from]", part).value, find("[data-to]", part).value] = said.range;
    if (said.price !== undefined && find("[data-price]", part)) find("[data-price]", part).value = said.price;
  }
  const wanted = asked.target?.class ?? asked.target, target = find("[name=target]", form);
  if (target && wanted !== undefined) target.selectedIndex = 1 + classes().indexOf(wanted);
  if (asked.target?.probability) find("#probability").value = asked.target.probability;
  find("#k").value = asked.k ?? 1;
}

// ---- the score follows the hand ------------------------------------------------------------------------------------

let scoring = null, waiting = false;

async function scored() {
  if (scoring) { waiting = true; return; }
  scoring = new AbortController();
  try {
    const row = Object.fromEntries(columns.map(one => [one.name, valueOf(one)]));
    const reply = await post("/api/v1/score", { row }, {}, scoring.signal);
    const told = await reply.json();
    if (reply.ok) decided(told);
    else problem(told.error);
  } catch { /* the next one tells */ } finally {
    setTimeout(() => { scoring = null; if (waiting) { waiting = false; scored(); } }, 100);
  }
}

function decided(told) {
  const chances = Object.entries(told.probabilities ?? {}).map(([name, chance]) => `${name} ${chance.toFixed(3)}`).join(", ");
  const mark = changed.size ? [` (${say("changed by hand")})`] : [];
  find("#decision").replaceChildren(made("strong", { textContent: told.told }), " ", made("span", { className: "chances", textContent: chances }), ...mark);
}

function moved(part, value) {
  const number = find("[data-value]", part), slider = find("[data-slider]", part);
  number.value = value;
  if (slider && value !== "") slider.value = value;
  const name = part.dataset.column;
  const column = columns.find(one => one.name === name);
  changed.add(name);
  if (valueOf(column) === own[name]) changed.delete(name);
  part.classList.toggle("changed", changed.has(name));
  find("button.main", form).textContent = say(changed.size ? "Ask from here" : "Ask");
  scored();
}

// ---- answers as they come ------------------------------------------------------------------------------------------

let asking = null, last = null;

function problem(error) {
  find("#problem").textContent = error ? [error.given, error.needed, error.remedy].filter(Boolean).join(" ") : "";
}

/** The events of a stream, one after the other. */
async function* events(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const pieces = (rest + value).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) {
      const data = piece.split("\n").find(line => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}

async function ask() {
  asking?.abort();
  const mine = asking = new AbortController();
  const begin = performance.now();
  problem(null);
  find("#stop").disabled = false;
  find("#told").textContent = `${say("searching")} …`;
  let ended = false, first = null;
  try {
    const reply = await post("/api/v1/explain", question(), { accept: "text/event-stream" }, mine.signal);
    if (!reply.ok) {
      problem((await reply.json()).error);
      find("#told").textContent = "";
      return;
    }
    for await (const event of events(reply)) {
      if (event.event === "answers") {
        first ??= event.answers[0].cost;
        show(event.answers);
        closing(event.answers[0], first, event.seconds);
      }
      if (event.event === "region") stays(event);
      if (event.event === "error") problem(event.error);
      ended ||= event.event === "done" || event.event === "error";
    }
    if (!ended) throw new Error("cut");
    noted(performance.now() - begin);
  } catch (error) {
    if (mine.signal.aborted) {
      if (asking === mine) find("#told").textContent = say("stopped");
    } else {
      problem({ given: say("The connection was lost. What was found stays here."), remedy: say("Ask again") + "." });
      find("#told").textContent = "";
    }
  } finally {
    if (asking === mine) { asking = null; find("#stop").disabled = true; }
  }
}

function show(answers) {
  last = answers;
  find("#cards").replaceChildren(...answers.map((one, at) => card(one, at)));
  find("#saving").hidden = false;
  find("#use").disabled = !answers[0].found;
}

/** The card as the server wrote it, with a button for each change that may be refused. */
function card(answer, at) {
  const one = made("div", { className: "with-buttons", innerHTML: answer.html });
  const refusals = answer.changes.map(change => {
    const button = made("button", { type: "button", textContent: `${say("I refuse this change")}: ${change.label}` });
    button.addEventListener("click", () => {
      remember();
      find("[name=lock]", parts.get(change.column)).checked = true;
      ask();
    });
    return button;
  });
  if (refusals.length) one.append(made("p", { className: "buttons" }, ...refusals));
  one.dataset.at = at;
  return one;
}

const NS = "http://www.w3.org/2000/svg";
const drawn = (name, facts) => {
  const one = document.createElementNS(NS, name);
  Object.entries(facts).forEach(([key, value]) => one.setAttribute(key, value));
  return one;
};

/** The bound that closes in on the cost. */
function closing(answer, first, seconds) {
  const box = find("#closing"), { cost, bound } = answer;
  box.hidden = cost === null;
  const settled = answer.status === "PROVEN_OPTIMAL" || answer.status === "PROVEN_INFEASIBLE";
  const told = settled ? say("proven") : say("searching");
  find("#told").textContent = `${told} · ${seconds.toFixed(seconds < 1 ? 2 : 1)} ${say("seconds")}`;
  if (cost === null) return;
  const widest = Math.max(first ?? cost, cost) || 1, at = share => 4 + 292 * Math.min(1, share / widest);
  const low = bound ?? 0;
  const picture = drawn("svg", { viewBox: "0 0 300 28", role: "img", "aria-label": `${say("proven: not less than")} ${low.toPrecision(4)}, ${say("cost")} ${cost.toPrecision(4)}` });
  picture.append(
    drawn("line", { class: "track", x1: 4, x2: 296, y1: 14, y2: 14 }),
    drawn("line", { class: "below", x1: 4, x2: at(low), y1: 14, y2: 14 }),
    drawn("line", { class: "open", x1: at(low), x2: at(cost), y1: 14, y2: 14 }),
    drawn("circle", { class: "cost", cx: at(cost), cy: 14, r: 6 }),
  );
  const text = made("p", { textContent: `${say("proven: not less than")} ${low.toPrecision(4)} · ${say("cost")} ${cost.toPrecision(4)}` });
  box.replaceChildren(picture, text);
}

function stays(region) {
  if (!region.columns.length) return;
  const lines = region.columns.map(one => made("li", { textContent: `${columns.find(c => c.name === one.column).label}: ${one.text}` }));
  find("#cards").append(made("section", { className: "region" }, made("h3", { textContent: say("Where it stays valid") }), made("ul", {}, ...lines)));
}

function noted(milliseconds) {
  const { status, cost, changes } = last[0], state = snapshot();
  const told = `${status.toLowerCase().replaceAll("_", " ")}${cost === null ? "" : `, ${say("cost")} ${cost.toPrecision(4)}`}: ${changes.map(one => `${one.label} ${one.text[1]}`).join(", ")} (${Math.round(milliseconds)} ms)`;
  const button = made("button", { type: "button", textContent: told });
  button.addEventListener("click", () => { remember(); restore(state); ask(); });
  find("#history").hidden = false;
  find("#history-list").prepend(made("li", {}, button));
}

// ---- what the buttons do -------------------------------------------------------------------------------------------

async function menu() {
  problem(null);
  find("#told").textContent = `${say("searching")} …`;
  const asked = question();
  delete asked.region;
  delete asked.k;
  const reply = await post("/api/v1/menu", asked);
  const told = await reply.json();
  find("#told").textContent = "";
  if (!reply.ok) { problem(told.error); return; }
  find("#closing").hidden = true;
  if (told.answers.length) show(told.answers);
  else find("#cards").replaceChildren(made("pre", { textContent: told.text }));
}

async function save(form) {
  const record = last[0].record;
  const language = body.dataset.language;
  let text = record, kind = "application/json", name = "answer.json";
  if (form !== "json") {
    const reply = await post("/api/v1/render", { answer: record, as: form, language });
    const told = await reply.json();
    if (!reply.ok) { problem(told.error); return; }
    [text, kind, name] = form === "page" ? [told.text, "text/html", "answer.html"] : [told.text, "text/plain", "letter.txt"];
  }
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  made("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function use() {
  remember();
  for (const change of last[0].changes) {
    const column = columns.find(one => one.name === change.column);
    moved(parts.get(change.column), column.levels ? column.levels.indexOf(change.after) : change.after);
  }
}

if (form) {
  all("[data-script]").forEach(one => { one.hidden = false; one.disabled = one.id === "stop" || one.id === "undo"; });
  const begun = snapshot();
  restoreLink();
  form.addEventListener("submit", event => { event.preventDefault(); remember(); ask(); });
  for (const [, part] of parts) {
    find("[data-slider]", part)?.addEventListener("input", event => moved(part, event.target.value));
    find("[data-value]", part).addEventListener("input", event => moved(part, event.target.value));
  }
  const does = {
    "#stop": () => asking?.abort(),
    "#menu": menu,
    "#undo": () => { restore(past.pop()); find("#undo").disabled = !past.length; ask(); },
    "#reset": () => { remember(); restore(begun); },
    "#link": async () => {
      const address = link();
      history.replaceState(null, "", address);
      await navigator.clipboard?.writeText(address).catch(() => {});
      find("#told").textContent = say("It is copied.");
    },
    "#use": use,
    "#pin": () => {
      find("#pinned").hidden = false;
      find("#pinned-cards").replaceChildren(...all("#cards .butfor").slice(0, 1).map(one => one.cloneNode(true)));
    },
  };
  Object.entries(does).forEach(([selector, work]) => find(selector).addEventListener("click", work));
  all("[data-save]").forEach(one => one.addEventListener("click", () => save(one.dataset.save)));
  if (fragment.has("asked")) ask();
}
