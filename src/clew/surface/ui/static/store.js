// Is it healthy?
import { at, html, Link, memoryAt, Shell, useContext, useState } from "./core.js";
import { query as asQuery, request, useApi } from "./api.js";
import { Bars, Empty, Failure, Line, Loading, Page, When } from "./parts.js";
import { bytes, count, EVENTS, milliseconds, minute, number, plural, STUBS } from "./format.js";

const RULES = {
  empty: "no text", too_short: "shorter than memory.min_characters", too_long: "longer than memory.max_characters: import it as a document",
  chatter: "small talk: no word that is not chatter", few_telling_words: "too few words that tell something", no_words: "no words beside numbers and links",
  repeated: "the same few words over and over", mashed: "runs of keys", echo: "repeats what a recall has just returned", secret: "nothing was left without its secrets",
  forgotten: "was forgotten, and is refused since",
};

export function Store({ query }) {
  const { space, me } = useContext(Shell);
  const whole = me.whole_store && !query.get("space");
  const stats = useApi("GET", `/v1/stats${whole ? "" : asQuery({ space })}`);
  const quality = useApi("GET", `/v1/quality${asQuery({ space })}`);
  const jobs = useApi("GET", "/v1/jobs");
  const { data } = stats;
  return html`<${Page} title="Store" about=${whole ? "The whole store" : `The space ${space}`} source=${[stats, quality, jobs]} busy=${stats.loading}>
    <${Failure} error=${stats.error} retry=${stats.reload} />
    ${!data && !stats.error && html`<${Loading} what="Counting" />`}
    ${data && html`<${Figures} data=${data} />
      <div class="cards">
        <${Counts} title="Spaces" rows=${data.by_space} draw=${(row) => html`<${Link} to=${`/ui/?space=${encodeURIComponent(row.name)}`}>${row.name}</${Link}>`} />
        <${Counts} title="Categories" rows=${data.by_category} draw=${(row) => html`<${Link} to=${at("/ui/", { category: row.name })}>${row.name}</${Link}>`} />
        <${Counts} title="Kinds" rows=${data.by_kind} draw=${(row) => html`<${Link} to=${at("/ui/", { kind: row.name })}>${row.name}</${Link}>`} />
        <${Counts} title="Events" rows=${data.by_event} draw=${(row) => EVENTS[row.name] || row.name} />
      </div>`}
    <${Quality} quality=${quality} now=${me.now} />
    <${Ingest} data=${data} jobs=${jobs} now=${me.now} />
    ${me.whole_store ? html`<${Care} /><${Recalls} now=${me.now} /><${Settings} />` : html`<p class="soft">Checks, backups, settings and the log of recalls need the right admin over the whole store.</p>`}
  </${Page}>`;
}

function Figures({ data }) {
  const figures = [
    ["live", data.live], ["ended or replaced", data.expired + data.ending], ["archived", data.archived], ["protected", data.protected],
    ["links", data.edges], ["without a vector", data.unembedded, data.unembedded ? "bad" : ""], ["size", data.bytes === undefined ? null : bytes(data.bytes)],
  ];
  return html`<dl class="figures">${figures.filter(([, value]) => value !== null && value !== undefined).map(([name, value, kind]) => html`<div class=${kind || ""}><dt>${name}</dt><dd>${typeof value === "number" ? count(value) : value}</dd></div>`)}
    <div class="broad"><dt>model</dt><dd class="small">${data.model || "none yet"}</dd></div></dl>
    ${data.unembedded > 0 && html`<p class="box note">${plural(data.unembedded, "memory", "memories")} cannot be found by meaning. Give them vectors with: <code>clew reembed</code></p>`}`;
}

function Counts({ title, rows, draw }) {
  const found = Object.entries(rows || {}).map(([name, number]) => ({ name, count: number })).sort((a, b) => b.count - a.count).slice(0, 12);
  return html`<section class="panel" aria-label=${title}><h2>${title}</h2>${found.length ? html`<${Bars} rows=${found} label=${title} draw=${draw} />` : html`<p class="soft">None.</p>`}
    ${Object.keys(rows || {}).length > 12 && html`<p class="soft small">${count(Object.keys(rows).length - 12)} more are in the JSON.</p>`}</section>`;
}

function Quality({ quality, now }) {
  const { data, error } = quality;
  if (error) return html`<${Failure} error=${error} retry=${quality.reload} />`;
  if (!data || !data.assessed) return null;
  const most = Math.max(...data.bins.map((bin) => bin.count), 1);
  return html`<section class="panel" aria-label="Quality"><h2>Quality of the texts</h2>
    <div class="cards two"><div>
      <svg class="histogram" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label=${`Quality from 0 to 1: ${data.bins.map((bin) => `${number(bin.from, 1)} ${bin.count}`).join(", ")}`}>
        ${data.bins.map((bin, place) => html`<rect class="fill" x=${place * 10 + 0.6} width="8.8" y=${40 - (38 * bin.count) / most} height=${(38 * bin.count) / most}><title>${number(bin.from, 1)}–${number(bin.to, 1)}: ${count(bin.count)}</title></rect>`)}
      </svg><div class="axis soft small"><span>poor</span><span>${count(data.assessed)} of ${count(data.nodes)} assessed</span><span>good</span></div>
      <p class="soft small">${Object.entries(data.stubs).filter(([name]) => name !== "none").map(([name, number]) => `${count(number)} ${STUBS[name] || name}`).join(" · ")}</p></div>
      <div><h3>The poorest</h3><ul class="plain">${data.lowest.slice(0, 5).map((node) => html`<li><${Line} node=${node} now=${now} /></li>`)}</ul></div></div>
  </section>`;
}

function Ingest({ data, jobs, now }) {
  const rejected = Object.entries(data?.rejected || {}).map(([name, number]) => ({ name, count: number })).sort((a, b) => b.count - a.count);
  const [open, set] = useState(null);
  const job = useApi("GET", open ? `/v1/jobs/${encodeURIComponent(open)}` : null);
  const list = jobs.data?.jobs || [];
  return html`<section class="panel" aria-label="Ingest"><h2>What came in, and what was turned away</h2>
    <div class="cards two"><div><h3>Rejected, by rule</h3>
      ${rejected.length ? html`<${Bars} rows=${rejected} label="Rejected by rule" draw=${(row) => row.name.replaceAll("_", " ")} />
        <p class="soft small">${rejected.map((row) => RULES[row.name] && html`<span class="rule"><b>${row.name.replaceAll("_", " ")}</b>: ${RULES[row.name]}. </span>`)}</p>`
        : html`<p class="soft">${data?.rejected ? "Nothing was rejected." : "Counts of rejections are for whoever may administer the whole store."}</p>`}</div>
    <div><h3>Imports over HTTP</h3><${Failure} error=${jobs.error} />
      ${!list.length && html`<p class="soft">None. <code>clew import FOLDER</code> on the command line reports there.</p>`}
      <ul class="plain">${list.slice(0, 20).map((each) => html`<li><button type="button" class="quiet job" aria-expanded=${open === each.id ? "true" : "false"} onClick=${() => set(open === each.id ? null : each.id)}><span class=${`chip state ${each.state}`}>${each.state}</span> <bdi>${each.source || "data"}</bdi> <${When} at=${each.created} now=${now} /></button>
        ${open === each.id && job.data && html`<${Report} job=${job.data} />`}</li>`)}</ul></div></div>
  </section>`;
}

function Report({ job }) {
  if (job.error) return html`<p class="box bad">${job.error.message}</p>`;
  if (!job.report) return html`<p class="soft">${job.progress.what || "waiting"} ${job.progress.done}${job.progress.total ? ` of ${job.progress.total}` : ""}</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Files"><table><thead><tr><th scope="col">file</th><th scope="col">status</th><th scope="col">nodes</th><th scope="col">why</th></tr></thead>
    <tbody>${job.report.files.slice(0, 200).map((file) => html`<tr><th scope="row"><bdi>${file.path}</bdi></th><td>${file.status}</td><td>${count(file.nodes)}</td><td>${[file.reason, ...(file.notes || [])].filter(Boolean).join("; ")}</td></tr>`)}</tbody></table></div>`;
}

function Care() {
  const [state, is] = useState({});
  const run = (name) => async () => {
    is({ busy: name });
    try {
      is({ [name]: await request("POST", `/v1/${name}`) });
    } catch (error) {
      is({ error });
    }
  };
  return html`<section class="panel" aria-label="Care"><h2>Care</h2>
    <div class="row wrap"><button type="button" disabled=${state.busy} onClick=${run("verify")}>${state.busy === "verify" ? "Checking every row…" : "Check every row"}</button>
      <button type="button" disabled=${state.busy} onClick=${run("backup")}>${state.busy === "backup" ? "Copying…" : "Back up"}</button></div>
    <div aria-live="polite"><${Failure} error=${state.error} />
      ${state.verify && (state.verify.sound ? html`<p class="box good">Sound: every row agrees with everything derived from it.</p>` : html`<div class="box bad"><p><b>${plural(state.verify.problems.length, "problem")}</b></p><ul>${state.verify.problems.slice(0, 50).map((each) => html`<li>${each.check}: ${each.detail}. ${each.way_out}</li>`)}</ul></div>`)}
      ${state.backup && html`<p class="box good">Copied to <code>${state.backup.path}</code> (${bytes(state.backup.bytes)}). Put it in place with <code>clew restore</code>.</p>`}</div>
  </section>`;
}

function Recalls({ now }) {
  const answer = useApi("GET", "/v1/recalls");
  const { data } = answer;
  const [most, set] = useState(15);
  if (answer.error) return html`<${Failure} error=${answer.error} />`;
  if (!data) return null;
  const { totals, recalls } = data;
  return html`<section class="panel" aria-label="Recalls"><div class="row"><h2 class="grow">Recalls since the server started</h2><button type="button" class="quiet" onClick=${answer.reload}>Refresh</button></div>
    <p class="soft">${plural(totals.recalls, "recall")}${totals.recalls > 0 ? `, ${milliseconds(totals.recall_milliseconds / totals.recalls)} each` : ""}; ${count(totals.tokens_returned)} tokens returned, ${plural(totals.embedding_calls, "call")} of the model, ${plural(totals.errors, "error")}.</p>
    ${recalls.length > 0 && html`<div class="scroll" tabindex="0" role="group" aria-label="Recalls"><table><thead><tr><th scope="col">when</th><th scope="col">question</th><th scope="col">recipe</th><th scope="col">hits</th><th scope="col">time</th><th scope="col">slowest stage</th></tr></thead>
      <tbody>${recalls.slice(0, most).map((each) => {
        const [stage, took] = Object.entries(each.stages).sort((a, b) => b[1] - a[1])[0] || ["", 0];
        return html`<tr><td><${When} at=${each.at} now=${new Date().toISOString()} /></td><td class="clip"><bdi>${each.query || "not kept"}</bdi></td><td>${each.recipe || "–"}</td><td>${each.failed ? each.error : each.nothing_relevant ? `${each.returned}, none relevant` : each.returned}</td><td>${milliseconds(each.milliseconds)}</td><td>${stage} ${stage && milliseconds(took)}</td></tr>`;
      })}</tbody></table></div>`}
    ${recalls.length > most && html`<button type="button" class="quiet" onClick=${() => set(200)}>Show all ${recalls.length}</button>`}
    <p class="soft small">Questions are kept only with the setting telemetry.include_text.</p>
  </section>`;
}

function Settings() {
  const answer = useApi("GET", "/v1/settings");
  const [filter, set] = useState("");
  const [all, every] = useState(false);
  if (answer.error) return html`<${Failure} error=${answer.error} />`;
  const rows = answer.data?.settings || [];
  const shown = rows.filter((row) => (all || filter || row.source !== "default") && (!filter || `${row.key} ${row.description}`.toLowerCase().includes(filter.toLowerCase())));
  const value = (each) => (Array.isArray(each) ? each.join(", ") || "none" : typeof each === "object" && each ? JSON.stringify(each) : String(each));
  return html`<section class="panel" aria-label="Settings"><div class="row wrap"><h2 class="grow">Settings</h2>
      <label class="check"><input type="checkbox" checked=${all} onChange=${(event) => every(event.target.checked)} /> also those at their default</label>
      <input type="search" value=${filter} onInput=${(event) => set(event.target.value)} placeholder="Find a setting" aria-label="Find a setting" /></div>
    ${shown.length ? html`<div class="scroll" tabindex="0" role="group" aria-label="Settings"><table><thead><tr><th scope="col">setting</th><th scope="col">value</th><th scope="col">from</th></tr></thead>
      <tbody>${shown.map((row) => html`<tr><th scope="row"><code>${row.key}</code><div class="soft small">${row.description}</div></th><td class="wrap-any"><bdi>${value(row.value)}</bdi></td><td class=${row.source === "default" ? "soft" : ""}><bdi>${row.source}</bdi></td></tr>`)}</tbody></table></div>`
      : html`<p class="soft">${filter ? "No setting is called that." : "All settings are at their defaults."}</p>`}
  </section>`;
}
