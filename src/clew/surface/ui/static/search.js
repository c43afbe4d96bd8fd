// What does memory say, and why?
import { at, go, html, Link, memoryAt, Shell, useContext, useEffect, useMemo, useRef, useState, useKeys, withQuery } from "./core.js";
import { query as asQuery, useApi, usePages } from "./api.js";
import { Channels, Chip, Confidence, CopyLine, Empty, Facts, Failure, Field, Line, Loading, Page, Rows, curl } from "./parts.js";
import { count, dateOf, edgeName, headline, milliseconds, number, partName, percent, plural, short } from "./format.js";
import { colour, gainOf, parts, ScoreBar, ScoreTable } from "./score.js";
import { Bulk } from "./actions.js";

const WHERE = ["category", "kind", "tag", "since", "until"];
const FILTERS = [...WHERE, "as_of", "known_at", "recipe", "preset", "k", "archived"];
const NAMES = { as_of: "true at", known_at: "known at", k: "hits", tag: "tag" };

// The body of /v1/recall that an address means.
export function bodyOf(query, space) {
  const where = { space };
  for (const name of ["category", "kind"]) if (query.getAll(name).length) where[name] = query.getAll(name);
  if (query.getAll("tag").length) where.tags = query.getAll("tag");
  for (const name of ["since", "until"]) if (query.get(name)) where[name] = query.get(name);
  if (query.get("archived")) where.archived = true;
  const body = { query: query.get("q"), where };
  for (const name of ["as_of", "known_at", "recipe", "preset"]) if (query.get(name)) body[name] = query.get(name);
  if (Number(query.get("k")) > 0) body.k = Number(query.get("k"));
  return body;
}

const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCommand(body) {
  const options = [["as_of", "--as-of"], ["known_at", "--known-at"], ["recipe", "--recipe"], ["preset", "--preset"], ["k", "-k"]];
  const parts = ["clew recall", shellQuoted(body.query)];
  const { space, tags = [], category = [], kind = [], since, until, archived } = body.where;
  parts.push(`--space ${shellQuoted(space)}`);
  for (const each of category) parts.push(`--category ${shellQuoted(each)}`);
  for (const each of kind) parts.push(`--kind ${shellQuoted(each)}`);
  for (const each of tags) parts.push(`--tag ${shellQuoted(each)}`);
  if (since) parts.push(`--since ${shellQuoted(since)}`);
  if (until) parts.push(`--until ${shellQuoted(until)}`);
  if (archived) parts.push("--archived");
  for (const [name, option] of options) if (body[name]) parts.push(`${option} ${shellQuoted(String(body[name]))}`);
  return parts.join(" ");
}

export function asPython(body) {
  const { query, ...rest } = body;
  const literal = (value) => JSON.stringify(value).replaceAll(/\btrue\b/g, "True").replaceAll(/\bfalse\b/g, "False");
  return `clew.open().recall(${[JSON.stringify(query), ...Object.entries(rest).map(([name, value]) => `${name}=${literal(value)}`)].join(", ")})`;
}

export function Search({ query }) {
  const { space, me } = useContext(Shell);
  const asked = (query.get("q") || "").trim();
  const body = useMemo(() => (asked ? bodyOf(query, space) : undefined), [query.toString(), space]);
  // Looking is no use: what is found through the page is not counted as recalled.
  const answer = useApi("POST", asked ? "/v1/recall" : null, body && { ...body, track: false });
  const chosen = FILTERS.filter((name) => query.getAll(name).length);
  return html`<${Page} title="Search" tab=${asked || "Search"} source=${asked ? [answer] : []} busy=${answer.loading}>
    <${Ask} query=${query} asked=${asked} />
    <${Filters} query=${query} chosen=${chosen} />
    ${asked ? html`<${Answer} answer=${answer} body=${body} query=${query} chosen=${chosen} />` : html`<${Latest} query=${query} now=${me.now} />`}
  </${Page}>`;
}

function Ask({ query, asked }) {
  const box = useRef(null);
  const [text, set] = useState(query.get("q") || "");
  useEffect(() => set(query.get("q") || ""), [asked]);
  useKeys({
    "/": () => {
      box.current.focus();
      box.current.select();
    },
    Escape: () => (document.activeElement === box.current ? box.current.blur() : false),
  });
  const submit = (event) => {
    event.preventDefault();
    go(withQuery({ q: text.trim() || null }));
    box.current.blur();
  };
  return html`<form class="ask" role="search" onSubmit=${submit}>
    <input ref=${box} type="search" name="q" value=${text} onInput=${(event) => set(event.target.value)} placeholder="Ask memory in your own words" aria-label="Question" autocomplete="off" maxlength="4000" dir="auto" />
    <kbd aria-hidden="true">/</kbd>
    <button type="submit" class="primary">Search</button>
  </form>`;
}

function Filters({ query, chosen }) {
  const { me } = useContext(Shell);
  const [open, set] = useState(chosen.length > 0);
  const change = (name) => (event) => go(withQuery({ [name]: event.target.type === "checkbox" ? (event.target.checked ? "1" : null) : event.target.value }));
  const select = (name, options, none) => html`<select onChange=${change(name)} value=${query.get(name) || ""}>
    <option value="">${none}</option>${options.map((each) => html`<option value=${each} selected=${query.get(name) === each}>${each}</option>`)}
  </select>`;
  const text = (name, type, placeholder = "") => html`<input type=${type} value=${type === "date" ? dateOf(query.get(name)) : query.get(name) || ""} placeholder=${placeholder} onChange=${change(name)} />`;
  return html`<div class="filters">
    <div class="row wrap">
      <button type="button" class="quiet" aria-expanded=${open ? "true" : "false"} aria-controls="filters" onClick=${() => set(!open)}>${open ? "▾" : "▸"} Filters and time</button>
      ${chosen.map((name) => html`<button type="button" class="chip removable" onClick=${() => go(withQuery({ [name]: null }))} aria-label=${`Remove ${NAMES[name] || name} ${query.getAll(name).join(", ")}`}>${NAMES[name] || name}: <b>${query.getAll(name).join(", ")}</b> ✕</button>`)}
      ${chosen.length > 1 && html`<button type="button" class="quiet" onClick=${() => go(withQuery(Object.fromEntries(chosen.map((name) => [name, null]))))}>Clear all</button>`}
    </div>
    <div id="filters" class="grid" hidden=${!open}>
      <${Field} label="Category">${select("category", me.categories, "any")}</${Field}>
      <${Field} label="Kind">${select("kind", ["memory", "chunk", "section", "document"], "any")}</${Field}>
      <${Field} label="Tag">${text("tag", "text", "db")}</${Field}>
      <${Field} label="True at" help="what held then">${text("as_of", "date")}</${Field}>
      <${Field} label="Known at" help="what was believed then">${text("known_at", "date")}</${Field}>
      <${Field} label="True since">${text("since", "date")}</${Field}>
      <${Field} label="Until">${text("until", "date")}</${Field}>
      <${Field} label="Recipe" help="the stages to run">${select("recipe", me.recipes, me.recipe)}</${Field}>
      <${Field} label="Preset" help="weights of the score">${select("preset", Object.keys(me.presets), me.preset)}</${Field}>
      <${Field} label="Hits">${html`<input type="number" min="1" max="1000" value=${query.get("k") || ""} placeholder=${me.k} onChange=${change("k")} />`}</${Field}>
      <label class="check"><input type="checkbox" checked=${!!query.get("archived")} onChange=${change("archived")} /> also search the archive</label>
    </div>
  </div>`;
}

function Answer({ answer, body, query, chosen }) {
  const { me } = useContext(Shell);
  const { data, error, loading } = answer;
  const [place, set] = useState(0);
  const [detail, show] = useState(false);
  const [selected, select] = useState(new Set());
  const hits = data?.hits || [];
  useEffect(() => {
    set(0);
    select(new Set());
  }, [answer.key]);
  const hit = hits[Math.min(place, hits.length - 1)];
  const move = (step) => {
    const next = Math.max(0, Math.min(hits.length - 1, place + step));
    set(next);
    document.getElementById(`hit-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  const toggle = (id) => select((old) => {
    const next = new Set(old);
    if (!next.delete(id)) next.add(id);
    return next;
  });
  useKeys({
    j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    Enter: () => hit && go(memoryAt(hit.id)), g: () => hit && go(memoryAt(hit.id, "/around")),
    t: () => hit && go(at("/ui/time", { id: hit.id })), e: () => hit && show((old) => !old),
    x: () => hit && toggle(hit.id), Escape: () => (detail ? show(false) : selected.size ? select(new Set()) : false),
  });
  if (error) return html`<${Failure} error=${error} retry=${answer.reload} />`;
  if (!data) return html`<${Loading} what="Searching" />`;
  const most = Math.max(...hits.map(gainOf), 1e-9);
  const { stats } = data;
  // Where the hits begin whose probability is below the threshold of an answer; without a calibrated one nobody can tell.
  const limit = stats.confidence?.calibrated ? stats.confidence.threshold : 0;
  const first = hits.findIndex((each) => each.confidence !== null && each.confidence < limit);
  const unlikely = first > 0 && hits.slice(first).every((each) => each.confidence < limit) ? first : -1;
  return html`<div class=${`answer ${detail ? "with-detail" : ""} ${loading ? "stale" : ""}`}>
    <section aria-label="Hits">
      <p class="soft count" aria-live="polite" role="status">
        ${data.nothing_relevant ? "Nothing relevant" : plural(hits.length, "hit")} in ${milliseconds(stats.milliseconds)}
        ${data.filtered_count > 0 && html` · ${count(data.filtered_count)} held back`} · ${stats.recipe}, ${stats.preset}
      </p>
      ${stats.notes.map((note) => html`<p class="box note">${note}</p>`)}
      ${data.nothing_relevant && hits.length > 0 && html`<p class="box note">None of these is likely to answer the question: the best has a probability of ${percent(stats.confidence?.value)}.</p>`}
      ${hits.length === 0 && html`<${Nothing} data=${data} chosen=${chosen} />`}
      ${hits.length > 0 && html`<${Legend} hits=${hits} />`}
      <ol class="hits">
        ${hits.map((each, number) => html`${number === unlikely && html`<li class="divider soft">Unlikely to answer the question</li>`}<${Hit} key=${each.id} hit=${each} most=${most} id=${`hit-${number}`} here=${number === place} selected=${selected.has(each.id)} now=${me.now} paths=${hits}
          choose=${() => set(number)} toggle=${() => toggle(each.id)} explain=${() => { set(number); show(number !== place || !detail); }} explained=${detail && number === place} />`)}
      </ol>
      <${Bulk} ids=${[...selected]} clear=${() => select(new Set())} done=${answer.reload} />
      <${WhyNot} body=${body} />
      <details class="copy"><summary>Ask the same elsewhere</summary>
        <${CopyLine} text=${asCommand(body)} name="the command" />
        <${CopyLine} text=${asPython(body)} name="the Python call" />
        <${CopyLine} text=${curl({ method: "POST", path: "/v1/recall", body })} name="the HTTP request" />
      </details>
    </section>
    ${detail && hit && html`<${Detail} hit=${hit} hits=${hits} body=${body} close=${() => show(false)} />`}
  </div>`;
}

function Legend({ hits }) {
  const names = [...new Set(hits.flatMap((hit) => parts(hit).map((part) => part.name)))];
  return html`<p class="legend" aria-hidden="true">${names.map((name) => html`<span><span class=${`dot ${colour(name)}`}></span>${partName(name)}</span>`)}</p>`;
}

function Nothing({ data, chosen }) {
  const best = data.best_rejected;
  return html`<${Empty} title="Nothing relevant">
    ${best ? html`<p>The closest, <${Link} to=${memoryAt(best.id)}>${short(best.id)}</${Link}>, was left out at the stage ${best.stage}: ${best.reason} ${number(best.value)}, the limit is ${number(best.limit)}.</p>`
      : html`<p>No memory of this space comes near the question.</p>`}
    ${chosen.length > 0 ? html`<p>Filters are on. <button type="button" onClick=${() => go(withQuery(Object.fromEntries(chosen.map((name) => [name, null]))))}>Search without them</button></p>`
      : html`<p class="soft">Try other words, or look what is there: <${Link} to=${at("/ui/")}>latest memories</${Link}>.</p>`}
  </${Empty}>`;
}

function Hit({ hit, most, id, here, selected, now, choose, toggle, explain, explained, paths }) {
  const [open, set] = useState(false);
  const text = hit.context || hit.text;
  const long = text.length > 420 || text.split("\n").length > 5;
  const node = hit.node || hit;
  return html`<li id=${id} class=${`hit ${here ? "here" : ""} ${selected ? "selected" : ""}`} onClick=${choose}>
    <div class="hit-head">
      <span class="rank" aria-label=${`rank ${hit.rank}`}>${hit.rank}</span>
      <h2 dir="auto"><${Link} to=${memoryAt(hit.id)}>${hit.title ? hit.title : headline({ text: hit.text })}</${Link}></h2>
      <${Confidence} value=${hit.confidence} />
    </div>
    ${(hit.title || long || text.trim() !== headline({ text: hit.text })) && html`<p class=${`hit-text ${long && !open ? "clamped" : ""}`} dir="auto">${text}</p>`}
    ${long && html`<button type="button" class="quiet small" onClick=${() => set(!open)}>${open ? "Show less" : "Show all"}</button>`}
    ${hit.path.length > 0 && html`<p class="path">${hit.path.map((hop, place) => {
      const from = paths.find((each) => each.id === hop.from);
      return html`${place === 0 && html`<span class="chip" dir="auto">${from ? headline(from.node || from) : short(hop.from)}</span>`}<span class="arrow" aria-label="leads by"> → <i>${hop.evidence || edgeName(hop.edge)}</i> → </span><span class="chip" dir="auto">${hop.to === hit.id ? "this" : short(hop.to)}</span>`;
    })}</p>`}
    <${ScoreBar} hit=${hit} most=${most} />
    <div class="hit-foot">
      <span class="score" title="score">${number(hit.score, 2)}</span>
      <${Channels} hit=${hit} />
      <${Facts} node=${node} now=${now} />
      <span class="hit-actions">
        <button type="button" class="quiet small" aria-expanded=${explained ? "true" : "false"} onClick=${(event) => { event.stopPropagation(); explain(); }}>Why?</button>
        <${Link} class="button quiet small" to=${memoryAt(hit.id, "/around")}>Around</${Link}>
        <label class="check small"><input type="checkbox" checked=${selected} onClick=${(event) => event.stopPropagation()} onChange=${toggle} aria-label=${`Select hit ${hit.rank}`} /></label>
      </span>
    </div>
  </li>`;
}

// Name other hits by their titles where an explanation has their ids.
const told = (text, hits) => hits.reduce((said, hit) => said.replaceAll(hit.id, `“${headline(hit.node || hit)}”`), text);

function Detail({ hit, hits, body, close }) {
  const { query, ...rest } = body;
  const why = useApi("POST", "/v1/why", { query, ...rest, id: hit.id });
  const main = why.data?.main_reason;
  return html`<aside class="detail" aria-label="Why this hit">
    <div class="row"><h2 class="grow">Why #${hit.rank}</h2><button type="button" class="quiet" onClick=${close} aria-label="Close the explanation">✕</button></div>
    <p class="explanation" dir="auto">${told(hit.explanation, hits)}</p>
    ${main && html`<p class="box note">${main.decisive
      ? html`Decisive: <b>${main.reasons.map((each) => partName(each.name)).join(" and ")}</b>. Without ${main.reasons.length > 1 ? "them" : "it"} ${main.rank_without ? `it would be at rank ${main.rank_without}` : "it would not have been found"}.`
      : html`No single reason decides: without <b>${main.reasons.map((each) => partName(each.name)).join(" and ")}</b> it would still be at rank ${why.data.rank}.`}</p>`}
    <${Failure} error=${why.error} />
    <${ScoreTable} hit=${hit} />
    ${hit.flags?.length > 0 && html`<p class="box bad">Low trust: ${hit.flags.join(", ")}. The text gives orders; treat it as data.</p>`}
    <p class="row wrap"><${Link} class="button" to=${memoryAt(hit.id)}>Open</${Link}><${Link} class="button" to=${memoryAt(hit.id, "/around")}>Around</${Link}><${Link} class="button" to=${at("/ui/time", { id: hit.id })}>In time</${Link}></p>
  </aside>`;
}

function WhyNot({ body }) {
  const [id, set] = useState("");
  const [asked, ask] = useState(null);
  const { query, ...rest } = body;
  const answer = useApi("POST", asked ? "/v1/why-not" : null, asked ? { query, ...rest, id: asked } : undefined);
  useEffect(() => ask(null), [JSON.stringify(body)]);
  const submit = (event) => {
    event.preventDefault();
    ask(id.trim().replace(/^.*\/m\/([^/?#]+).*$/, "$1") || null);
  };
  return html`<section class="whynot" aria-label="Why not another memory">
    <form class="row wrap" onSubmit=${submit}>
      <label class="grow"><span class="soft">Missing something? Paste its id or address to see why it is not here.</span>
        <input type="text" value=${id} onInput=${(event) => set(event.target.value)} placeholder="01m7gfwdmr422zgpq588cdfnzy" autocomplete="off" spellcheck=${false} /></label>
      <button type="submit">Why not?</button>
    </form>
    ${asked && html`<div aria-live="polite">
      <${Failure} error=${answer.error} />
      ${answer.data && html`<div class="box note"><p dir="auto">${answer.data.sentence}</p>
        <p class="soft small">stage ${answer.data.stage}${answer.data.rank ? ` · rank ${answer.data.rank}` : ""}${answer.data.value !== null && answer.data.value !== undefined ? ` · ${number(answer.data.value)}` : ""}${answer.data.threshold !== null && answer.data.threshold !== undefined ? ` against ${number(answer.data.threshold)}` : ""} · <${Link} to=${memoryAt(asked)}>open it</${Link}></p></div>`}
    </div>`}
  </section>`;
}

function Latest({ query, now }) {
  const { space, can, add } = useContext(Shell);
  const [sort, order] = useState("recent");
  const values = Object.fromEntries(WHERE.map((name) => [name, query.getAll(name)]));
  const path = `/v1/memories${asQuery({ space, sort, ...values, as_of: query.get("as_of"), known_at: query.get("known_at"), archived: query.get("archived") ? "true" : "" })}`;
  const pages = usePages(path, "memories");
  const filtered = FILTERS.some((name) => query.get(name));
  const [place, set] = useState(-1);
  const rows = pages.rows;
  useKeys({
    j: () => set(Math.min(rows.length - 1, place + 1)), k: () => set(Math.max(0, place - 1)),
    Enter: () => rows[place] && go(memoryAt(rows[place].id)), g: () => rows[place] && go(memoryAt(rows[place].id, "/around")),
  });
  if (pages.error) return html`<${Failure} error=${pages.error} retry=${pages.reload} />`;
  if (!rows.length && pages.loading) return html`<${Loading} />`;
  if (!rows.length && filtered) return html`<${Empty} title="No memory passes these filters"><p><button type="button" onClick=${() => go(withQuery(Object.fromEntries(FILTERS.map((name) => [name, null]))))}>Clear the filters</button></p></${Empty}>`;
  if (!rows.length) return html`<${Empty} title="Nothing is remembered here yet">
    <p>${can("write") ? html`<button type="button" class="primary" onClick=${add}>Remember something</button> or bring in what you have:` : "Whoever has the right to write can add something:"}</p>
    <${CopyLine} text="clew add 'The staging database listens on port 5433'" name="the command" />
    <${CopyLine} text="clew import notes/" name="the command" />
    <p class="soft">Other spaces are chosen at the side.</p>
  </${Empty}>`;
  return html`<section aria-label="All memories">
    <div class="row"><h2 class="grow">${{ recent: "Latest memories", important: "Most important", popular: "Most recalled" }[sort]}</h2>
      <label class="row soft">Sort <select value=${sort} onChange=${(event) => order(event.target.value)}><option value="recent">latest</option><option value="important">importance</option><option value="popular">use</option></select></label></div>
    <${Rows} rows=${rows} height=${44} more=${pages.more} label="Memories" draw=${(node, number) => html`<${Line} node=${node} now=${now} chosen=${number === place} />`} />
  </section>`;
}
