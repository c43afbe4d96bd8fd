// What was true, and what did we believe, when?
import { at, go, html, Link, memoryAt, Shell, useContext, useEffect, useKeys, useMemo, useState, withQuery } from "./core.js";
import { query as asQuery, useApi, usePages } from "./api.js";
import { Empty, Failure, Line, Loading, Page, Rows } from "./parts.js";
import { count, dateOf, day, headline, minute, plural } from "./format.js";

const BUCKETS = 120;
const HEIGHT = 90;

export function Time({ query }) {
  const { me, space } = useContext(Shell);
  const asked = { as_of: query.get("as_of"), known_at: query.get("known_at") };
  const compare = query.get("to") === "now" || query.get("to_as_of") || query.get("to_known_at");
  const axis = useApi("GET", `/v1/timeline${asQuery({ space, buckets: BUCKETS, since: query.get("since"), until: query.get("until") })}`);
  const set = (name) => (value) => go(withQuery({ [name]: value }), { replace: true });
  useKeys({ d: () => go(withQuery({ to: compare ? null : "now", to_as_of: null, to_known_at: null })) });
  const empty = axis.data && !axis.data.buckets.some((each) => each.began || each.recorded) && !axis.data.before.began;
  return html`<${Page} title="Time" about="What was true, and what was believed, at any moment" source=${[axis]} busy=${axis.loading}
    actions=${html`<button type="button" aria-pressed=${compare ? "true" : "false"} onClick=${() => go(withQuery({ to: compare ? null : "now", to_as_of: null, to_known_at: null }))}>Compare two moments</button>`}>
    <${Failure} error=${axis.error} retry=${axis.reload} />
    ${!axis.data && !axis.error && html`<${Loading} />`}
    ${empty && html`<${Empty} title="No time to look at yet"><p>As soon as something is remembered, it is shown here when it became true and when it was recorded.</p></${Empty}>`}
    ${axis.data && !empty && html`
      <${Strip} axis=${axis.data} asked=${asked} />
      <div class="scrubbers">
        <${Scrubber} name="True at" help="what held in the world" axis=${axis.data} value=${asked.as_of} change=${set("as_of")} />
        <${Scrubber} name="Known at" help="what was recorded" axis=${axis.data} value=${asked.known_at} change=${set("known_at")} kind="known" />
      </div>
      ${compare ? html`<${Compare} query=${query} asked=${asked} axis=${axis.data} space=${space} now=${me.now} />` : html`<${Seen} query=${query} asked=${asked} space=${space} now=${me.now} />`}`}
  </${Page}>`;
}

// Above the line what became true and what ended, as an area how much was true; below it what was recorded.
function Strip({ axis, asked }) {
  const { buckets, before } = axis;
  const start = Date.parse(axis.from);
  const end = Date.parse(axis.to);
  const truth = useMemo(() => {
    let level = before.began - before.ended;
    return buckets.map((bucket) => (level += bucket.began - bucket.ended));
  }, [axis]);
  const most = Math.max(...truth, 1);
  const recorded = Math.max(...buckets.map((bucket) => bucket.recorded), 1);
  const width = 100 / buckets.length;
  const area = `M0 60 ${truth.map((level, place) => `L${place * width} ${60 - (52 * level) / most} L${(place + 1) * width} ${60 - (52 * level) / most}`).join(" ")} L100 60 Z`;
  const x = (iso) => (100 * (Date.parse(iso.length === 10 ? `${iso}T23:59:59Z` : iso) - start)) / (end - start);
  const marks = [["as_of", "as-of"], ["known_at", "known-at"]].filter(([name]) => asked[name]);
  const total = (name) => count(buckets.reduce((sum, bucket) => sum + bucket[name], before[name]));
  return html`<figure class="timeline">
    <svg viewBox=${`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`From ${day(axis.from)} to ${day(axis.to)}: ${total("began")} became true, ${total("ended")} ended, ${total("recorded")} were recorded; at most ${count(most)} were true at once`}>
      <path class="area" d=${area} /><line class="base" x1="0" y1="60" x2="100" y2="60" />
      ${buckets.map((bucket, place) => bucket.recorded > 0 && html`<rect class="recorded" x=${place * width + width * 0.1} y="62" width=${width * 0.8} height=${Math.max(1.5, (26 * bucket.recorded) / recorded)}><title>${day(bucket.from)}: ${count(bucket.recorded)} recorded</title></rect>`)}
      ${buckets.map((bucket, place) => bucket.ended > 0 && html`<rect class="ended" x=${place * width} y="56" width=${width} height="4"><title>${day(bucket.from)}: ${count(bucket.ended)} ended</title></rect>`)}
      ${marks.map(([name, kind]) => html`<rect class=${`cursor ${kind}`} x=${Math.max(0, Math.min(99.7, x(asked[name])))} y="0" width="0.3" height=${HEIGHT} />`)}
    </svg>
    <figcaption class="axis soft small"><span>${day(axis.from)}</span><span class="legend"><span><span class="dot part-dense"></span>true at the time (up to ${count(most)})</span><span><span class="dot ended"></span>ended</span><span><span class="dot recorded"></span>recorded</span></span><span>${day(axis.to)}</span></figcaption>
  </figure>`;
}

function Scrubber({ name, help, axis, value, change, kind = "" }) {
  const start = Date.parse(axis.from);
  const end = Date.parse(axis.to);
  const STEPS = 500;
  const place = value ? Math.round((STEPS * (Date.parse(value.length === 10 ? `${value}T23:59:59Z` : value) - start)) / (end - start)) : STEPS;
  const [moved, move] = useState(null);
  useEffect(() => move(null), [value]);
  const dayAt = (step) => new Date(start + ((end - start) * step) / STEPS).toISOString().slice(0, 10);
  const slid = (event) => change(Number(event.target.value) >= STEPS ? null : dayAt(Number(event.target.value)));
  const shown = moved === null ? value : moved >= STEPS ? null : dayAt(moved);
  return html`<div class=${`scrubber ${kind}`}>
    <div class="row"><span class="grow"><b>${name}</b> <span class="soft">${help}</span></span>
      <input type="date" aria-label=${`${name}, as a date`} value=${dateOf(shown)} onChange=${(event) => change(event.target.value || null)} />
      <button type="button" class="quiet" disabled=${!value} onClick=${() => change(null)}>Now</button></div>
    <input type="range" min="0" max=${STEPS} value=${moved ?? Math.max(0, Math.min(STEPS, place))} aria-label=${name} aria-valuetext=${shown ? day(shown) : "now"} onInput=${(event) => move(Number(event.target.value))} onChange=${slid} />
  </div>`;
}

function Seen({ query, asked, space, now }) {
  const id = query.get("id");
  const pages = usePages(`/v1/memories${asQuery({ space, ...asked, sort: "recent" })}`, "memories");
  const one = useApi("GET", id ? `/v1/memories/${encodeURIComponent(id)}${asQuery(asked)}` : null);
  const said = asked.as_of || asked.known_at
    ? `${asked.as_of ? `True on ${day(asked.as_of)}` : "True now"}${asked.known_at ? `, as believed on ${day(asked.known_at)}` : ""}` : "True and believed now";
  return html`<section aria-label="What was seen">
    ${id && html`<div class="box note"><p class="soft small">At that moment <${Link} to=${memoryAt(id)}>this memory</${Link}> said:</p>
      ${one.error ? html`<p>${one.error.message}</p>` : one.data && html`<p dir="auto">${headline(one.data)}</p><p class="soft small">true since ${minute(one.data.t_valid)}${one.data.t_invalid ? ` until ${minute(one.data.t_invalid)}` : ""}</p>`}
      <button type="button" class="quiet small" onClick=${() => go(withQuery({ id: null }))}>Look at all memories</button></div>`}
    <div class="row wrap"><h2 class="grow" aria-live="polite">${said}</h2><${Link} class="button" to=${at("/ui/", asked)}>Ask a question about then</${Link}></div>
    <${Failure} error=${pages.error} retry=${pages.reload} />
    <${Rows} rows=${pages.rows} height=${44} more=${pages.more} label=${said} draw=${(node) => html`<${Line} node=${node} now=${asked.as_of || now} />`}
      empty=${!pages.loading && !pages.error && html`<${Empty} title="Nothing was true and believed then"><p class="soft">Move the sliders to the right, or press Now.</p></${Empty}>`} />
  </section>`;
}

function Compare({ query, asked, space, now, axis }) {
  const to = { to_as_of: query.get("to_as_of"), to_known_at: query.get("to_known_at") };
  const first = asked.as_of || asked.known_at ? asked : { as_of: axis.from.slice(0, 10), known_at: null };
  const answer = useApi("GET", `/v1/diff${asQuery({ space, ...first, ...to, limit: 200 })}`);
  const set = (name) => (value) => go(withQuery({ [name]: value, to: "now" }), { replace: true });
  const { data } = answer;
  const rows = data ? [
    ...data.changed.map((pair) => ({ ...pair.after, key: `c${pair.after.id}`, mark: "changed", before: pair.before })),
    ...data.added.map((node) => ({ ...node, key: `a${node.id}`, mark: "added" })), ...data.removed.map((node) => ({ ...node, key: `r${node.id}`, mark: "removed" })),
  ] : [];
  const name = (as_of, known_at) => `${as_of ? `true on ${day(as_of)}` : "true now"}${known_at ? `, believed on ${day(known_at)}` : ""}`;
  return html`<section aria-label="Differences">
    <p class="box note">The sliders above are the first moment${asked.as_of || asked.known_at ? "" : `; they stand at now, so the beginning (${day(axis.from)}) is taken`}. These are the second:</p>
    <div class="scrubbers">
      <${Scrubber} name="True at, second" help="" axis=${axis} value=${to.to_as_of} change=${set("to_as_of")} />
      <${Scrubber} name="Known at, second" help="" axis=${axis} value=${to.to_known_at} change=${set("to_known_at")} kind="known" />
    </div>
    <h2>From “${name(first.as_of, first.known_at)}” to “${name(to.to_as_of, to.to_known_at)}”</h2>
    <${Failure} error=${answer.error} retry=${answer.reload} />
    ${data && html`<p class="soft" aria-live="polite">${plural(data.changed.length, "change")}, ${count(data.only_after - data.changed.length)} more only in the second, ${count(data.only_before - data.changed.length)} only in the first${data.only_after > 200 || data.only_before > 200 ? "; the latest 200 of each are listed" : ""}.</p>`}
    <${Rows} rows=${rows} height=${44} label="Differences" draw=${(node) => (node.before ? html`<${Changed} before=${node.before} after=${node} />` : html`<${Line} node=${node} now=${now} mark=${node.mark} />`)}
      empty=${data && html`<${Empty} title="Nothing differs"><p class="soft">Both moments see the same.</p></${Empty}>`} />
  </section>`;
}

const Changed = ({ before, after }) => html`<${Link} class="line" to=${memoryAt(after.root || after.id)}><span class="mark changed" aria-label="changed">±</span><span class="line-text" dir="auto"><del>${headline({ text: before.text })}</del> → <ins>${headline({ text: after.text })}</ins></span><span class="line-facts soft">${after.category}</span></${Link}>`;
