// The page of the server: signs in, carries the questions of its desk over HTTP, and keeps what is asked in its address.

import { mount } from "./what-if.js";

const find = selector => document.querySelector(selector);
const fragment = new URLSearchParams(location.hash.slice(1));
const post = (path, sent, more = {}, signal = undefined) =>
  fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": find("meta[name=csrf]")?.content ?? "", ...more },
    body: JSON.stringify(sent),
    signal,
  });

// ---- a token in the fragment of the address is exchanged for a cookie, and leaves the address -----------------------

async function signIn(token) {
  const reply = await post("/session", { token });
  if (reply.ok) location.replace("/");
  else find("#problem").textContent = find("#problem").dataset.unknown;
}

if (fragment.has("token")) {
  history.replaceState(null, "", location.pathname + location.search);
  signIn(fragment.get("token"));
}
find("#sign-in")?.addEventListener("submit", event => {
  event.preventDefault();
  signIn(find("[name=token]").value);
});

// ---- questions over HTTP -------------------------------------------------------------------------------------------

/** The events of a stream, one after the other. It is cut if the last one does not say that it is done. */
async function* streamed(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("cut");
    const pieces = (rest + value).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) {
      const event = JSON.parse(piece.split("\n").find(line => line.startsWith("data: ")).slice(6));
      if (event.event === "done") return;
      yield event;
      if (event.event === "error") return;
    }
  }
}

async function* events(work, body, signal) {
  const stream = work === "explain" ? { accept: "text/event-stream" } : {};
  const reply = await post(`/api/v1/${work}`, body, stream, signal);
  if (!reply.ok) yield { event: "error", error: (await reply.json()).error };
  else if (work === "explain") yield* streamed(reply);
  else yield { event: work, ...(await reply.json()) };
}

/** What is asked stands behind the #, which is never sent. */
const shared = {
  read: () => (fragment.has("asked") ? JSON.parse(fragment.get("asked")) : null),
  write(asked, row, language) {
    const address = `${location.origin}/?row=${row}&language=${language}#${new URLSearchParams({ asked: JSON.stringify(asked) })}`;
    history.replaceState(null, "", address);
    return navigator.clipboard?.writeText(address).catch(() => {});
  },
};

if (find(".desk")) mount(find(".desk"), { events, shared });
