// What several views are made of.
import { html, Link, memoryAt, Shell, useContext, useEffect, useLayoutEffect, useRef, useState } from "./core.js";
import { token } from "./api.js";
import { ago, headline, minute, own, partName, percent, short, state, validity } from "./format.js";

export function Page({ title, tab = title, about, source = [], actions, children, busy }) {
  useEffect(() => {
    document.title = `${tab} · Clew`;
  }, [tab]);
  return html`<main id="main" tabindex="-1" aria-busy=${busy ? "true" : "false"}>
    <header class="page-head">
      <div class="grow"><h1>${title}</h1>${about && html`<p class="soft">${about}</p>`}</div>
      <div class="row">${actions}<${JsonLink} source=${source.filter((each) => each && each.path)} /></div>
    </header>
    ${children}
  </main>`;
}

export function curl(call) {
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = ["curl -s", ...(call.method === "GET" ? [] : [`-X ${call.method}`]), quoted(location.origin + call.path)];
  if (token()) parts.push(`-H 'Authorization: Bearer '"$CLEW_TOKEN"`);
  if (call.body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body))}`);
  return parts.join(" ");
}

function JsonLink({ source }) {
  const [open, set] = useState(false);
  if (!source.length) return null;
  const first = source.find((call) => call.method === "GET");
  const show = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    set(true);
  };
  return html`<a class="button quiet" href=${first ? first.path : "/docs"} onClick=${show}>JSON</a>
    <${Dialog} open=${open} title="What the API answered" wide close=${() => set(false)}>
      ${source.map((call) => html`<section class="call">
        <h3><span class="method">${call.method}</span> <code>${call.path}</code></h3>
        <${CopyLine} text=${curl(call)} name="as curl" />
        <pre class="json" tabindex="0" aria-label=${`Answer of ${call.path}`}>${call.error ? JSON.stringify(call.error.body, null, 2) : call.data ? clipped(JSON.stringify(call.data, null, 2)) : "…"}</pre>
      </section>`)}
    </${Dialog}>`;
}

const MOST_JSON = 200_000;
const clipped = (text) => (text.length > MOST_JSON ? `${text.slice(0, MOST_JSON)}\n… ${text.length - MOST_JSON} more characters` : text);

export function Dialog({ open, title, children, close, wide }) {
  const ref = useRef(null);
  useEffect(() => {
    const dialog = ref.current;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  const outside = (event) => event.target === ref.current && close();
  return html`<dialog ref=${ref} class=${wide ? "wide" : ""} aria-label=${title} onClose=${close} onClick=${outside}>
    ${open && html`<div class="dialog-body">
      <div class="dialog-head"><h2>${title}</h2><button type="button" class="quiet" onClick=${close} aria-label="Close">✕</button></div>
      ${children}
    </div>`}
  </dialog>`;
}

export function CopyLine({ text, name }) {
  const { notify } = useContext(Shell);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      notify(`Copied ${name}.`);
    } catch {
      notify("The browser does not let the page copy. Select the text instead.", "bad");
    }
  };
  return html`<div class="copyline"><code tabindex="0" aria-label=${name}>${text}</code><button type="button" class="quiet" onClick=${copy}>Copy</button></div>`;
}

export function Failure({ error, retry }) {
  if (!error) return null;
  const id = error.body?.request_id;
  return html`<div class="box bad" role="alert">
    <strong>${error.status === 403 ? "Not allowed" : error.status === 404 ? "Not there" : "That did not work"}</strong>
    <p>${error.message}</p>
    <p class="soft small">${error.code}${id && ` · request ${id}`}</p>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

export const Empty = ({ title, children }) => html`<div class="empty"><h2>${title}</h2>${children}</div>`;
export const Loading = ({ what = "Loading" }) => html`<p class="soft loading" role="status">${what}…</p>`;
export const Chip = ({ kind = "", children, title }) => html`<span class=${`chip ${kind}`} title=${title}>${children}</span>`;

export function Confidence({ value }) {
  const step = value === null || value === undefined ? "none" : value >= 0.6 ? "high" : value >= 0.3 ? "middle" : "low";
  return html`<span class=${`confidence ${step}`} title="Calibrated probability that this answers the question">${percent(value)}</span>`;
}

const STATES = { expired: "no longer believed", archived: "archived", ended: "ended", future: "not true yet" };

export function Facts({ node, now, space }) {
  const what = state(node, now);
  return html`<div class="facts">
    ${what && html`<${Chip} kind=${`state ${what}`}>${STATES[what]}</${Chip}>`}
    ${node.trust === "low" && html`<${Chip} kind="state low" title=${node.flags?.join(", ")}>gives orders: low trust</${Chip}>`}
    ${node.kind !== "memory" && html`<span>${node.kind}</span>`}
    <span>${node.category}</span>
    <span title=${`${minute(node.t_valid)}${node.t_invalid ? ` – ${minute(node.t_invalid)}` : ""}`}>${validity(node, now)}</span>
    ${node.source && html`<span class="clip" title=${node.source}><bdi>${node.source}</bdi></span>`}
    ${node.tags?.slice(0, 6).map((tag) => html`<span class="tag"><bdi>#${tag}</bdi></span>`)}
    ${node.protected && html`<span>protected</span>`}
    ${space && html`<span>${node.space}</span>`}
  </div>`;
}

// One line for one memory, always of the same height.
export function Line({ node, now, chosen, mark }) {
  return html`<${Link} class=${`line ${chosen ? "chosen" : ""}`} to=${memoryAt(own(node))}>
    ${mark && html`<span class=${`mark ${mark}`} aria-label=${mark}>${{ added: "+", removed: "−", changed: "±" }[mark]}</span>`}
    <span class="line-text" dir="auto">${node.title ? html`<b>${headline(node)}</b> <span class="soft">${headline({ text: node.text })}</span>` : headline(node)}</span>
    <span class="line-facts soft"><span class="state-name">${STATES[state(node, now)] || node.category} · </span>${validity(node, now).replace(", ended", "")}</span>
  </${Link}>`;
}

// A list of rows of one height: only those in sight are in the document, however many there are.
export function Rows({ rows, height, draw, more, label, empty }) {
  const ref = useRef(null);
  const [range, set] = useState([0, 30]);
  const measure = () => {
    const box = ref.current;
    if (!box) return;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 8);
    const last = Math.ceil((box.scrollTop + box.clientHeight) / height) + 8;
    set((old) => (old[0] === first && old[1] === last ? old : [first, last]));
    if (more && last >= rows.length) more();
  };
  useLayoutEffect(measure, [rows.length, height]);
  if (!rows.length) return empty || null;
  const [first, last] = range;
  const seen = rows.slice(first, last);
  return html`<div class="rows" ref=${ref} onScroll=${measure} tabindex="0" role="group" aria-label=${label}>
    <ul style=${{ height: `${rows.length * height}px`, paddingTop: `${first * height}px` }}>
      ${seen.map((row, place) => html`<li key=${row.key ?? row.id ?? first + place} style=${{ height: `${height}px` }} aria-setsize=${rows.length} aria-posinset=${first + place + 1}>${draw(row, first + place)}</li>`)}
    </ul>
  </div>`;
}

export function Channels({ hit }) {
  const found = Object.entries(hit.channels).filter(([, place]) => place.rank !== null).sort((a, b) => a[1].rank - b[1].rank);
  return html`<span class="channels">${found.map(([name, place]) => html`<span title=${`rank ${place.rank} by ${partName(name)}`}>${partName(name)}${"\u00a0"}<b>#${place.rank}</b></span>`)}</span>`;
}

export function Field({ label, help, children, wide }) {
  return html`<label class=${`field ${wide ? "wide" : ""}`}><span>${label}</span>${children}${help && html`<small class="soft">${help}</small>`}</label>`;
}

export const Id = ({ id }) => html`<${Link} class="id" to=${memoryAt(id)} title=${id}>${short(id)}</${Link}>`;
export const When = ({ at, now }) => html`<time datetime=${at} title=${minute(at)}>${ago(at, now)}</time>`;

// Bars for counts by name: a list that reads well without colours.
export function Bars({ rows, label, draw }) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  return html`<ul class="bars" aria-label=${label}>
    ${rows.map((row) => html`<li>
      <span class="bar-name" title=${row.name}><bdi>${draw ? draw(row) : row.name}</bdi></span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8" /><rect class="fill" width=${(100 * row.count) / most} height="8" /></svg>
      <span class="bar-count">${row.shown ?? row.count.toLocaleString("en-GB")}</span>
    </li>`)}
  </ul>`;
}
