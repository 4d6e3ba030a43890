// The what-if desk: asks while a person looks, shows answers as they are found, and keeps nothing but in this window.
//
// Python writes it, and `mount` makes it work, wherever it stands: in a page of the server, or in a notebook. A transport
// carries its questions:
//   events(work, body, signal)  the events that answer a question, one after the other; throws if the connection is lost
//   open(query)                 goes to another row or list; without it, links and forms do what they do in a browser
//   shared                      reads and writes what is asked in a link; without it, there is no button for that

const find = (selector, within) => within.querySelector(selector);
const all = (selector, within) => [...within.querySelectorAll(selector)];
const made = (name, facts = {}, ...children) => {
  const one = Object.assign(document.createElement(name), facts);
  one.append(...children);
  return one;
};

const NS = "http://www.w3.org/2000/svg";
const drawn = (name, facts) => {
  const one = document.createElementNS(NS, name);
  Object.entries(facts).forEach(([key, value]) => one.setAttribute(key, value));
  return one;
};

/** An error in words: what was given, what is needed, what to do. */
const worded = error => [error.given, error.needed, error.remedy].filter(Boolean).join(" ");

/** Makes the desk in an element work. What it returns ends it. */
export function mount(desk, transport) {
  const told = JSON.parse(desk.dataset.words);
  const say = english => told[english] ?? english;
  const here = selector => find(selector, desk);
  const form = here("#ask");
  let asking = null;

  if (transport.open) followed(desk, transport.open);
  if (!form) return () => {};

  // ---- the question in the form ------------------------------------------------------------------------------------

  const language = desk.dataset.language;
  const columns = JSON.parse(desk.dataset.columns);
  const own = JSON.parse(desk.dataset.values);
  const parts = new Map(all("[data-column]", desk).map(one => [one.dataset.column, one]));
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

  const classes = JSON.parse(find("[name=target]", form)?.dataset.classes ?? "[]"); // numbers, truth values or texts

  const row = () => Object.fromEntries(columns.map(one => [one.name, valueOf(one)]));

  function question() {
    const asked = { language, k: Number(here("#k").value) || 1, region: true, card: true, columns: {} };
    asked.row = changed.size ? row() : Number(desk.dataset.row);
    for (const column of columns) {
      const said = conditions(column);
      if (Object.keys(said).length) asked.columns[column.name] = said;
    }
    const target = find("[name=target]", form), least = here("#probability"), value = here("#at-least");
    if (target?.selectedIndex > 0) asked.target = { class: classes[target.selectedIndex - 1] };
    if (asked.target && least?.value) asked.target.probability = Number(least.value);
    if (value?.value) asked.target = { at_least: Number(value.value) };
    return asked;
  }

  // ---- what the form was, to go back to, and to share --------------------------------------------------------------

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
    parts.forEach((part, name) => part.classList.toggle("changed", changed.has(name)));
    scored();
  }

  function remember() {
    past.push(snapshot());
    here("#undo").disabled = false;
  }

  /** The form as a link says it. */
  function fill(asked) {
    for (const [name, said] of Object.entries(asked.columns ?? {})) {
      const part = parts.get(name);
      if (!part) continue;
      find("[name=lock]", part).checked = Boolean(said.frozen);
      if (find("[data-direction]", part)) find("[data-direction]", part).value = said.direction ?? "";
      if (said.range) [find("[data-from]", part).value, find("[data-to]", part).value] = said.range;
      if (said.price !== undefined && find("[data-price]", part)) find("[data-price]", part).value = said.price;
    }
    const wanted = asked.target?.class ?? asked.target, target = find("[name=target]", form);
    if (target && wanted !== undefined) target.selectedIndex = 1 + classes.indexOf(wanted);
    if (asked.target?.probability) here("#probability").value = asked.target.probability;
    if (here("#at-least")) here("#at-least").value = asked.target?.at_least ?? "";
    here("#k").value = asked.k ?? 1;
  }

  // ---- the score follows the hand ----------------------------------------------------------------------------------

  let scoring = false, waiting = false;

  /** What answers a question that has a single event; null if that is an error, which is told. */
  async function single(work, body) {
    for await (const event of transport.events(work, body)) {
      if (event.event === "late") continue;
      if (event.event !== "error") return event;
      problem(event.error);
    }
    return null;
  }

  async function scored() {
    if (scoring) { waiting = true; return; }
    scoring = true;
    try {
      const found = await single("score", { row: row() });
      if (found) decided(found);
    } catch { /* the next one tells */ } finally {
      setTimeout(() => { scoring = false; if (waiting) { waiting = false; scored(); } }, 100);
    }
  }

  function decided(found) {
    const chances = Object.entries(found.probabilities ?? {}).map(([name, chance]) => `${name} ${chance.toFixed(3)}`).join(", ");
    const mark = changed.size ? [` (${say("changed by hand")})`] : [];
    here("#decision").replaceChildren(made("strong", { textContent: found.told }), " ", made("span", { className: "chances", textContent: chances }), ...mark);
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

  // ---- answers as they come ----------------------------------------------------------------------------------------

  let last = null;

  function problem(error) {
    here("#problem").textContent = error ? worded(error) : "";
  }

  const logged = ({ unlogged, outside }) => problem(unlogged
    ? { given: say("This answer is shown, but it is not in the log:"), needed: unlogged, remedy: outside }
    : outside ? { given: outside } : null);

  const status = text => { here("#told").textContent = text; };

  const LOST = { given: say("The connection was lost. What was found stays here."), remedy: `${say("Ask again")}.` };

  async function ask() {
    asking?.abort();
    const mine = asking = new AbortController();
    const begin = performance.now();
    problem(null);
    here("#stop").disabled = false;
    status(`${say("searching")} …`);
    let first = null, wrong = null;
    try {
      for await (const event of transport.events("explain", question(), mine.signal)) {
        if (event.event === "late") status(say("The notebook works on something else, or its kernel has ended."));
        if (event.event === "answers") {
          first ??= event.answers[0].cost;
          show(event.answers);
          closing(event.answers[0], first, event.seconds);
          logged(event);
        }
        if (event.event === "region") stays(event);
        if (event.event === "error") wrong = event.error;
      }
    } catch {
      wrong = LOST;
    }
    if (asking !== mine) return; // another question was asked meanwhile
    asking = null;
    here("#stop").disabled = true;
    if (mine.signal.aborted) status(say("stopped"));
    else if (wrong) { problem(wrong); status(""); }
    else noted(performance.now() - begin);
  }

  function show(answers) {
    last = answers;
    here("#cards").replaceChildren(...answers.map((one, at) => card(one, at)));
    here("#saving").hidden = false;
    here("#use").disabled = !answers[0].found;
  }

  /** The card as Python wrote it, with a button for each change that may be refused. */
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

  /** The bound that closes in on the cost. */
  function closing(answer, first, seconds) {
    const box = here("#closing"), { cost, bound } = answer;
    box.hidden = cost === null;
    const settled = answer.status === "PROVEN_OPTIMAL" || answer.status === "PROVEN_INFEASIBLE";
    status(`${settled ? say("proven") : say("searching")} · ${seconds.toFixed(seconds < 1 ? 2 : 1)} ${say("seconds")}`);
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
    here("#cards").append(made("section", { className: "region" }, made("h3", { textContent: say("Where it stays valid") }), made("ul", {}, ...lines)));
  }

  function noted(milliseconds) {
    const { status, cost, changes } = last[0], state = snapshot();
    const text = `${status.toLowerCase().replaceAll("_", " ")}${cost === null ? "" : `, ${say("cost")} ${cost.toPrecision(4)}`}: ${changes.map(one => `${one.label} ${one.text[1]}`).join(", ")} (${Math.round(milliseconds)} ms)`;
    const button = made("button", { type: "button", textContent: text });
    button.addEventListener("click", () => { remember(); restore(state); ask(); });
    here("#history").hidden = false;
    here("#history-list").prepend(made("li", {}, button));
  }

  // ---- what the buttons do -----------------------------------------------------------------------------------------

  async function menu() {
    problem(null);
    status(`${say("searching")} …`);
    const asked = question();
    delete asked.region;
    delete asked.k;
    const found = await single("menu", asked).catch(() => problem(LOST));
    status("");
    if (!found) return;
    logged(found);
    here("#closing").hidden = true;
    if (found.answers.length) show(found.answers);
    else here("#cards").replaceChildren(made("pre", { textContent: found.text }));
  }

  async function save(form) {
    let text = last[0].record, kind = "application/json", name = "answer.json";
    if (form !== "json") {
      const found = await single("render", { answer: text, as: form, language }).catch(() => problem(LOST));
      if (!found) return;
      [text, kind, name] = form === "page" ? [found.text, "text/html", "answer.html"] : [found.text, "text/plain", "letter.txt"];
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

  /** What is asked, without values of a person. */
  async function share() {
    const { columns, target, k } = question();
    await transport.shared.write({ columns, target, k }, desk.dataset.row, language);
    status(say("It is copied."));
  }

  all("[data-script]", desk).forEach(one => { one.hidden = false; one.disabled = one.id === "stop" || one.id === "undo"; });
  const begun = snapshot();
  form.addEventListener("submit", event => { event.preventDefault(); remember(); ask(); });
  for (const [, part] of parts) {
    find("[data-slider]", part)?.addEventListener("input", event => moved(part, event.target.value));
    find("[data-value]", part).addEventListener("input", event => moved(part, event.target.value));
  }
  const does = {
    "#stop": () => asking?.abort(),
    "#menu": menu,
    "#undo": () => { restore(past.pop()); here("#undo").disabled = !past.length; ask(); },
    "#reset": () => { remember(); restore(begun); },
    "#link": share,
    "#use": use,
    "#pin": () => {
      here("#pinned").hidden = false;
      here("#pinned-cards").replaceChildren(...all("#cards .butfor", desk).slice(0, 1).map(one => one.cloneNode(true)));
    },
  };
  Object.entries(does).forEach(([selector, work]) => here(selector).addEventListener("click", work));
  all("[data-save]", desk).forEach(one => one.addEventListener("click", () => save(one.dataset.save)));
  const asked = transport.shared?.read();
  here("#link").hidden = !transport.shared;
  if (asked) {
    fill(asked);
    ask();
  }
  return () => asking?.abort();
}

/** Links and forms that lead to another row or list, where there is no address to go to. */
function followed(desk, open) {
  for (const link of all("a[href^='/?']", desk)) {
    link.addEventListener("click", event => { event.preventDefault(); open(link.getAttribute("href").slice(2)); });
  }
  for (const form of all("#choose, #find", desk)) {
    form.addEventListener("submit", event => { event.preventDefault(); open(String(new URLSearchParams(new FormData(form)))); });
  }
}

// ---- in a notebook, as a view of an anywidget ------------------------------------------------------------------------

const LATE = 3000; // after so many milliseconds without a sign of the kernel, that is told

/** Carries questions as messages to the widget in Python. */
function overMessages(model) {
  const open = new Map(); // by the name of a question: who takes its events
  const view = Math.random().toString(36).slice(2); // all views of a widget hear the same messages
  let count = 0;
  const heard = said => open.get(said.about)?.(said.event);
  model.on("msg:custom", heard);

  async function* events(work, body, signal) {
    const about = `${view} ${count++}`, came = [];
    let wake = () => {};
    const take = event => { came.push(event); wake(); };
    open.set(about, take);
    signal?.addEventListener("abort", () => { model.send({ stop: about }); take({ event: "end" }); });
    model.send({ ask: about, work, body });
    const late = setTimeout(() => take({ event: "late" }), LATE);
    try {
      for (;;) {
        while (!came.length) await new Promise(resolve => { wake = resolve; });
        const event = came.shift();
        if (event.event === "end") return;
        if (event.event === "heard") clearTimeout(late);
        else yield event;
      }
    } finally {
      clearTimeout(late);
      open.delete(about);
    }
  }
  return { events, close: () => model.off("msg:custom", heard) };
}

/** A desk in a tree of its own, so that neither its styles nor those of the notebook reach the other. */
function render({ model, el }) {
  const host = made("div", { className: "butfor-what-if" });
  host.dataset.lmSuppressShortcuts = "true"; // letters typed here are no commands of JupyterLab
  host.addEventListener("keydown", event => event.stopPropagation()); // nor of another notebook
  const root = host.attachShadow({ mode: "open" });
  const carried = overMessages(model);
  let end = () => {};

  function show(html) {
    end();
    root.replaceChildren(made("style", { textContent: model.get("style") }), made("div", { className: "what-if", innerHTML: html }));
    end = mount(find(".desk", root), { events: carried.events, open });
  }

  async function open(query) {
    for await (const event of carried.events("page", query)) {
      if (event.event === "error") find("#problem", root).textContent = worded(event.error);
      if (event.event !== "page") continue;
      show(event.html);
      find("#row-title", root).focus();
    }
  }

  show(model.get("html"));
  el.append(host);
  return () => { end(); carried.close(); };
}

export default { render };
