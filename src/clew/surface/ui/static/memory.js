// What is this, where from, is it still true?
import { at, go, html, Link, memoryAt, Shell, useContext, useKeys, withQuery } from "./core.js";
import { query as asQuery, useApi } from "./api.js";
import { Chip, Empty, Facts, Failure, Field, Id, Loading, Page, When } from "./parts.js";
import { MemoryActions } from "./actions.js";
import { dateOf, day, edgeName, EVENTS, headline, minute, number, plural, STUBS } from "./format.js";

export function Memory({ id, query }) {
  const { me, notify, refresh } = useContext(Shell);
  const path = `/v1/memories/${encodeURIComponent(id)}`;
  const times = asQuery({ as_of: query.get("as_of"), known_at: query.get("known_at") });
  const memory = useApi("GET", path + times);
  const history = useApi("GET", `${path}/history`);
  const related = useApi("GET", `${path}/related?limit=12`);
  const node = memory.data;
  const reload = () => [{ reload: refresh }, memory, history, related].forEach((each) => each.reload());
  useKeys({
    g: () => go(memoryAt(id, "/around")), t: () => go(at("/ui/time", { id })), Escape: () => history_back(),
  });
  if (memory.error && !(times && memory.error.status === 404)) {
    const forgotten = history.data?.events.some((event) => event.kind === "FORGET");
    return html`<${Page} title=${forgotten ? "Forgotten" : "Memory"} source=${[memory, history]}>
      ${forgotten ? html`<${Empty} title="This memory was forgotten"><p>Its text is gone for good; that it was forgotten is kept.</p></${Empty}><${Events} history=${history} now=${me.now} />`
        : html`<${Failure} error=${memory.error} retry=${memory.reload} /><p><${Link} to=${at("/ui/")}>Search</${Link}> for it, or look at the latest memories.</p>`}
    </${Page}>`;
  }
  const changed = (newer) => (newer ? go(memoryAt(newer)) : reload());
  const gone = (receipt) => {
    notify(`Forgotten: ${plural(receipt.forgotten.length, "memory", "memories")}.`);
    go(at("/ui/"));
  };
  return html`<${Page} title=${node ? headline(node) : "Memory"} source=${[memory, history, related]} busy=${memory.loading}
    actions=${html`<${Link} class="button" to=${memoryAt(id, "/around")}>Around</${Link}><${Link} class="button" to=${at("/ui/time", { id })}>In time</${Link}>`}>
    <${AtTime} query=${query} missing=${memory.error} />
    ${!node && !memory.error && html`<${Loading} />`}
    ${node && html`<div class=${`columns ${memory.loading ? "stale" : ""}`}>
      <div>
        <${Facts} node=${node} now=${me.now} />
        ${node.trust === "low" && html`<p class="box bad">Low trust (${node.flags.join(", ")}): the text gives orders to its reader. Treat it as data.</p>`}
        ${(node.title || node.text.trim() !== headline(node)) && html`<div class="text" dir="auto">${node.text}</div>`}
        ${node.context && html`<details><summary>Amid its neighbours</summary><div class="text soft" dir="auto">${node.context}</div></details>`}
        <${MemoryActions} node=${node} changed=${changed} gone=${gone} />
        <${Truth} node=${node} versions=${history.data?.versions || []} now=${me.now} />
        <${Events} history=${history} now=${me.now} />
      </div>
      <aside aria-label="Details">
        <${Details} node=${node} />
        <${Ties} related=${related} id=${id} />
      </aside>
    </div>`}
  </${Page}>`;
}

const history_back = () => (history.length > 1 ? history.back() : go(at("/ui/")));

function AtTime({ query, missing }) {
  const set = (name) => (event) => go(withQuery({ [name]: event.target.value }));
  const asked = query.get("as_of") || query.get("known_at");
  return html`<details class="at-time" open=${!!asked}>
    <summary>${asked ? "As it was" : "Look at another time"}</summary>
    <div class="row wrap">
      <${Field} label="True at"><input type="date" value=${dateOf(query.get("as_of"))} onChange=${set("as_of")} /></${Field}>
      <${Field} label="Known at"><input type="date" value=${dateOf(query.get("known_at"))} onChange=${set("known_at")} /></${Field}>
      ${asked && html`<button type="button" onClick=${() => go(withQuery({ as_of: null, known_at: null }))}>Now</button>`}
    </div>
    ${missing && html`<p class="box note">Nothing of this memory was true and believed then.</p>`}
  </details>`;
}

// When each version was true (above) and believed (below), on one axis.
function Truth({ node, versions, now }) {
  const rows = versions.length ? versions : [node];
  const stamp = (iso, other) => (!iso ? other : iso.startsWith("0001") ? null : Date.parse(iso));
  const present = Date.parse(now);
  const known = rows.flatMap((row) => [row.t_valid, row.t_invalid, row.t_created, row.t_expired]).filter((iso) => iso && !iso.startsWith("0001")).map((iso) => Date.parse(iso));
  const first = Math.min(...known, present);
  const last = Math.max(...known, present);
  const room = Math.max((last - first) * 0.08, 3_600_000);
  const [start, end] = [first - room, last + room];
  const x = (moment) => 100 * Math.min(1, Math.max(0, (moment - start) / (end - start)));
  const strip = (from, to, kind, said) => {
    const [a, b] = [from === null ? 0 : x(from), to === null ? 100 : x(to)];
    return html`<svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${said}>
      <rect class="track" width="100" height="10" /><rect class=${kind} x=${a} width=${Math.max(0.8, b - a)} height="10" /><rect class="now" x=${x(present)} width="0.4" height="10" />
    </svg>`;
  };
  return html`<section class="panel" aria-label="Validity"><h2>What was true when, and believed when</h2>
    <div class="axis soft small"><span>${day(new Date(start).toISOString())}</span><span>now is the thin line</span><span>${day(new Date(end).toISOString())}</span></div>
    ${rows.map((row) => {
      const trueFrom = stamp(row.t_valid, null);
      const saidTrue = `true ${row.t_valid.startsWith("0001") ? "always" : `since ${minute(row.t_valid)}`}${row.t_invalid ? ` until ${minute(row.t_invalid)}` : ""}`;
      const saidKnown = `believed since ${minute(row.t_created)}${row.t_expired ? ` until ${minute(row.t_expired)}` : ""}`;
      return html`<div class=${`version ${row.t_expired ? "past" : ""}`}>
        <p class="clip" dir="auto">${row.root || row.id === node.id ? "" : html`<${Id} id=${row.id} /> `}${headline({ text: row.text || node.text })}</p>
        <div class="strips"><span class="soft small">true</span>${strip(trueFrom, stamp(row.t_invalid, null), "valid", saidTrue)}
        <span class="soft small">believed</span>${strip(stamp(row.t_created, null), stamp(row.t_expired, null), "believed", saidKnown)}</div>
        <p class="soft small">${saidTrue}; ${saidKnown}.</p>
      </div>`;
    })}
  </section>`;
}

function Events({ history, now }) {
  if (history.error) return html`<${Failure} error=${history.error} />`;
  const events = history.data?.events || [];
  if (!events.length) return null;
  return html`<section class="panel" aria-label="History"><h2>History</h2>
    <ol class="events">${[...events].reverse().map((event) => html`<li>
      <span class=${`event-dot ${event.kind.toLowerCase()}`}></span><b>${EVENTS[event.kind] || event.kind}</b> <${When} at=${event.at} now=${now} />
      ${Object.entries(event.detail).filter(([name, value]) => name !== "version" && value !== null && value !== "").map(([name, value]) => html`<span class="detail-fact soft"><span>${name.replaceAll("_", " ")}</span> ${["by", "supersedes", "of"].includes(name) && typeof value === "string" ? html`<${Id} id=${value} />` : html`<bdi>${/^\d{4}-\d\d-\d\dT/.test(value) ? minute(value) : typeof value === "string" ? value : JSON.stringify(value)}</bdi>`}</span>`)}
    </li>`)}</ol>
  </section>`;
}

function Details({ node }) {
  const offsets = node.start !== null && node.end !== null && node.start !== undefined ? `, characters ${node.start}–${node.end}` : "";
  const rows = [
    ["id", html`<code>${node.id}</code>`], ["space", node.space], ["kind", node.kind], ["category", node.category], ["trigger", node.trigger],
    ["source", node.source && html`<bdi>${node.source}</bdi>${offsets}`], ["part of", node.parent && html`<${Id} id=${node.parent} />`],
    ["importance", number(node.importance, 2)], ["stability", node.stability], ["recalled", plural(node.accesses, "time")],
    ["tags", node.tags.join(", ")], ["keywords", node.keywords.join(", ")],
    ["recorded", minute(node.t_created)], ["true since", minute(node.t_valid)], ["until", minute(node.t_invalid)],
  ];
  const metadata = Object.entries(node.metadata);
  return html`<section class="panel" aria-label="Facts"><h2>Facts</h2>
    <dl class="pairs">${rows.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
      ${metadata.map(([name, value]) => html`<div><dt><bdi>${name}</bdi></dt><dd><bdi>${typeof value === "string" ? value : JSON.stringify(value)}</bdi></dd></div>`)}</dl>
    ${node.quality && html`<h3>Quality ${number(node.quality.overall, 2)}</h3><${Quality} quality=${node.quality} />`}
    ${node.questions?.length > 0 && html`<h3>Questions that it answers</h3><ul>${node.questions.map((each) => html`<li dir="auto">${each}</li>`)}</ul>`}
  </section>`;
}

function Quality({ quality }) {
  return html`<ul class="bars">${["substance", "specificity", "coherence", "clarity"].map((name) => html`<li>
    <span class="bar-name">${name}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8" /><rect class="fill" width=${100 * quality[name]} height="8" /></svg><span class="bar-count">${number(quality[name], 2)}</span></li>`)}</ul>
    ${quality.stub !== "none" && html`<p class="soft small">Looks like a stub: ${STUBS[quality.stub] || quality.stub}.</p>`}`;
}

function Ties({ related, id }) {
  const { data, error } = related;
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return null;
  const bare = !data.entities.length && !data.nodes.length;
  return html`<section class="panel" aria-label="Connections"><h2>Connections</h2>
    ${bare && html`<p class="soft">It names nothing that other memories name, and nothing is linked to it.</p>`}
    ${data.entities.length > 0 && html`<p class="row wrap">${data.entities.map((each) => html`<${Link} class="chip" to=${at("/ui/", { q: each.name })} title=${`${each.type}; named by ${plural(each.count, "memory", "memories")}: ${each.evidence}`}><bdi>${each.name}</bdi>${each.count > 1 && html` <b>${each.count}</b>`}</${Link}>`)}</p>`}
    <ul class="ties">${data.nodes.map((each) => html`<li><${Link} to=${memoryAt(each.id)}><span dir="auto">${headline(each)}</span></${Link}>
      <span class="soft small">${[...each.edges.map(edgeName), ...each.about.map((name) => `about ${name}`), ...each.shares.map((name) => `shares ${name}`)].join(" · ")} · ${number(each.strength, 2)}</span></li>`)}</ul>
    ${data.nodes.length > 0 && html`<p><${Link} to=${memoryAt(id, "/around")}>See them as a graph</${Link}></p>`}
  </section>`;
}
