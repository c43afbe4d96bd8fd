// The frame: who is calling, the views and their addresses, keys, notices and signing in.
import { at, go, here, html, Link, render, Shell, useAddress, useCallback, useEffect, useKeys, useRef, useState, withQuery } from "./core.js";
import { askOtherTabs, keepToken, redeemLink, request, session, token } from "./api.js";
import { Dialog, Empty, Failure, Loading, Page } from "./parts.js";
import { AddDialog } from "./actions.js";
import { Search } from "./search.js";
import { memoryAt } from "./core.js";

const lazy = {
  memory: () => import("./memory.js").then((made) => made.Memory), around: () => import("./around.js").then((made) => made.Around),
  time: () => import("./time.js").then((made) => made.Time), conflicts: () => import("./conflicts.js").then((made) => made.Conflicts),
  store: () => import("./store.js").then((made) => made.Store), eval: () => import("./evaluation.js").then((made) => made.Evaluation),
};
const VIEWS = [["Search", "/ui/", "search"], ["Time", "/ui/time", "time"], ["Conflicts", "/ui/conflicts", "conflicts"], ["Store", "/ui/store", "store"], ["Evaluation", "/ui/eval", "eval"]];
const KEYS = [
  ["/", "search"], ["j  k", "next and previous"], ["Enter", "open"], ["e", "explain the hit"], ["g", "what is around it"], ["t", "it in time"],
  ["x", "select"], ["n", "remember something new"], ["1 – 5", "the views"], ["s  b  1  2", "resolve a conflict"], ["d", "compare two moments (in Time)"], ["?", "this help"], ["Esc", "back"],
];

// Which view an address means, and the id in it.
export function viewOf(path) {
  const [, , name = "", id = "", tail = ""] = path.split("/");
  if (name === "") return { name: "search" };
  if (name === "m" && id) return { name: tail === "around" ? "around" : "memory", id: decodeURIComponent(id) };
  return { name: name in lazy ? name : "none" };
}

function View({ view, query }) {
  const [made, set] = useState({});
  const { name } = view;
  useEffect(() => {
    if (lazy[name] && !made[name]) lazy[name]().then((component) => set((old) => ({ ...old, [name]: component })));
  }, [name]);
  if (name === "search") return html`<${Search} query=${query} />`;
  const Component = made[name];
  if (name === "none") return html`<${Page} title="Not there"><${Empty} title="There is no such view"><p><${Link} to="/ui/">Search</${Link}></p></${Empty}></${Page}>`;
  return Component ? html`<${Component} key=${name + (view.id || "")} id=${view.id} query=${query} />` : html`<main id="main"><${Loading} /></main>`;
}

function App() {
  const { path, query } = useAddress();
  const [me, know] = useState(null);
  const [failure, fail] = useState(null);
  const [spaces, list] = useState(null);
  const [notices, say] = useState([]);
  const [dialog, open] = useState("");
  const view = viewOf(path);
  const notify = useCallback((text, kind = "") => {
    const id = performance.now() + Math.random();
    say((old) => [...old.slice(-2), { id, text, kind }]);
    setTimeout(() => say((old) => old.filter((each) => each.id !== id)), 7000);
  }, []);
  const learn = useCallback(async () => {
    fail(null);
    try {
      know(await request("GET", "/v1/me"));
    } catch (error) {
      know(null);
      fail(error);
    }
  }, []);
  useEffect(() => {
    const start = async () => {
      askOtherTabs();
      try {
        await redeemLink();
      } catch (error) {
        fail(error);
        return;
      }
      learn();
    };
    start();
    const refused = () => list(null) || know(null) || fail({ status: 401, message: "" });
    session.addEventListener("change", learn);
    session.addEventListener("refused", refused);
    return () => {
      session.removeEventListener("change", learn);
      session.removeEventListener("refused", refused);
    };
  }, []);
  // Counting a large store takes a while: the spaces are asked for when somebody is about to choose one.
  const learnSpaces = () => {
    if (spaces || !me) return;
    list(me.spaces || []);
    if (!me.spaces && me.whole_store) request("GET", "/v1/stats").then((stats) => list(Object.keys(stats.by_space)), () => list(null));
  };
  // The server's clock moves on while the page is open, and rights may be taken away.
  const refresh = useCallback(() => request("GET", "/v1/me").then(know, () => null), []);
  useEffect(() => {
    if (me) refresh();
  }, [path]);
  const number = (place) => () => go(at(VIEWS[place][1]));
  const inConflicts = view.name === "conflicts";
  useKeys({
    "?": () => open("help"), n: () => me && can("write") && open("add"), Escape: () => (view.name === "memory" ? false : false),
    "/": () => {
      if (view.name === "search") return false;
      go(at("/ui/"));
      setTimeout(() => document.querySelector(".ask input")?.focus(), 0);
      return true;
    },
    ...(inConflicts ? {} : Object.fromEntries(VIEWS.map((_, place) => [String(place + 1), number(place)]))),
  });
  const space = query.get("space") || me?.space || "default";
  const can = (right) => !!me && me.rights.includes(right) && (me.spaces === null || me.spaces.includes(space));
  if (!me) return failure ? (failure.status === 401 ? html`<${SignIn} error=${failure} />` : html`<main id="main"><h1>Clew</h1><${Failure} error=${failure} retry=${learn} /></main>`) : html`<main id="main"><${Loading} what="Opening" /></main>`;
  const shell = { me, space, can, notify, refresh, add: () => open("add") };
  return html`<${Shell.Provider} value=${shell}>
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
    <div class="frame">
      <nav class="side" aria-label="Views">
        <${Link} class="brand" to=${at("/ui/")}><img src="/ui/static/icon.svg" alt="" width="24" height="24" />Clew</${Link}>
        <ul>${VIEWS.map(([name, to, key]) => html`<li><${Link} to=${at(to)} aria-current=${view.name === key || (key === "search" && ["memory", "around"].includes(view.name)) ? "page" : null}>${name}</${Link}></li>`)}</ul>
        <div class="side-foot">
          <${SpacePicker} learn=${learnSpaces} spaces=${spaces} space=${space} me=${me} />
          ${can("write") && html`<button type="button" onClick=${() => open("add")}>Remember <kbd>n</kbd></button>`}
          <button type="button" class="quiet keys-button" onClick=${() => open("help")}>Keys <kbd>?</kbd></button>
          <a class="button quiet" href="/docs">API</a>
          ${token() && html`<button type="button" class="quiet" onClick=${() => keepToken(null)}>Sign out</button>`}
        </div>
      </nav>
      <${View} view=${view} query=${query} />
    </div>
    <div class="notices" role="status" aria-live="polite">${notices.map((each) => html`<p key=${each.id} class=${`notice ${each.kind}`}>${each.text}</p>`)}</div>
    <${Dialog} open=${dialog === "help"} title="Keys" close=${() => open("")}><dl class="keys">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
      <p class="soft small">Clew ${me.version} · signed in as ${me.name} (${me.rights.join(", ")}${me.spaces ? ` in ${me.spaces.join(", ")}` : ""})</p></${Dialog}>
    <${AddDialog} open=${dialog === "add"} close=${() => open("")} added=${(outcome) => outcome.id && go(memoryAt(outcome.id))} />
  </${Shell.Provider}>`;
}

function SpacePicker({ learn, spaces, space, me }) {
  const known = [...new Set([space, me.space, ...(me.spaces || spaces || [])])];
  const choose = (event) => {
    const chosen = event.target.value;
    const kept = here().path.startsWith("/ui/m/") ? "/ui/" : null;
    go(kept ? `/ui/${chosen === me.space ? "" : `?space=${encodeURIComponent(chosen)}`}` : withQuery({ space: chosen === me.space ? null : chosen }));
  };
  return html`<label class="field"><span>Space</span><select value=${space} onFocus=${learn} onPointerEnter=${learn} onChange=${choose}>${known.map((each) => html`<option value=${each} selected=${each === space}>${each}</option>`)}</select></label>`;
}

function SignIn({ error }) {
  const [secret, set] = useState("");
  const [wrong, is] = useState(null);
  const box = useRef(null);
  useEffect(() => {
    document.title = "Sign in · Clew";
    box.current?.focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    keepTokenQuietly(secret.trim());
    try {
      await request("GET", "/v1/me");
      keepToken(secret.trim());
    } catch (failure) {
      keepTokenQuietly(null);
      is(failure);
    }
  };
  return html`<main id="main" class="signin"><form onSubmit=${submit}>
    <img src="/ui/static/icon.svg" alt="" width="40" height="40" /><h1>Sign in</h1>
    <p class="soft">This server asks for a token. It is kept in this tab alone, until you close it.</p>
    ${error.message && error.code !== "refused.unauthorised" && html`<${Failure} error=${error} />`}
    ${error.message.includes("link") && html`<p class="box note">${error.message}</p>`}
    <label class="field wide"><span>Token</span><input ref=${box} type="password" value=${secret} onInput=${(event) => set(event.target.value)} autocomplete="off" required /></label>
    ${wrong && html`<p class="box bad" role="alert">${wrong.status === 401 ? "This token is not known, or its time is over." : wrong.message}</p>`}
    <button type="submit" class="primary">Sign in</button>
    <p class="soft small">Make one with <code>clew token create NAME --space SPACE --right read</code>. For the page of this machine start <code>clew ui</code> and use its link.</p>
  </form></main>`;
}

// While a token is tried nobody else is told of it.
function keepTokenQuietly(secret) {
  if (secret) sessionStorage.setItem("clew-token", secret);
  else sessionStorage.removeItem("clew-token");
}

render(html`<${App} />`, document.getElementById("app"));
