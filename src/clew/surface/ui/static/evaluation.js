// Is it any good on my questions? Reports of `clew eval`, as they lie below serve.report_roots.
import { at, go, html, Link, useState, withQuery } from "./core.js";
import { query as asQuery, useApi } from "./api.js";
import { CopyLine, Empty, Failure, Loading, Page } from "./parts.js";
import { count, milliseconds, number, plural } from "./format.js";

export function Evaluation({ query }) {
  const name = query.get("report");
  return name ? html`<${Report} name=${name} query=${query} />` : html`<${List} />`;
}

function List() {
  const answer = useApi("GET", "/v1/evaluations");
  const { data } = answer;
  const found = data?.evaluations || [];
  return html`<${Page} title="Evaluation" about="Is it any good on my questions?" source=${[answer]} busy=${answer.loading}>
    <${Failure} error=${answer.error} retry=${answer.reload} />
    ${!data && !answer.error && html`<${Loading} />`}
    ${data && !found.length && html`<${Empty} title=${data.configured ? "No report in these folders yet" : "No folder with reports is named"}>
      <p>Measure on your own questions and show the result here:</p>
      <${CopyLine} text="clew eval run --dataset memories --path questions.jsonl --output reports/first" name="the command" />
      <${CopyLine} text="clew ui --reports reports" name="the command" />
      <p class="soft">For <code>clew serve</code> the folder is the setting <code>serve.report_roots</code>.</p></${Empty}>`}
    <ul class="plain cards">${found.map((each) => html`<li class="panel">${each.error ? html`<h2>${each.name}</h2><p class="box bad">${each.error}</p>`
      : html`<h2><${Link} to=${at("/ui/eval", { report: each.name })}><bdi>${each.dataset}</bdi>${each.part && ` · ${each.part}`}</${Link}></h2>
        <p class="soft">${plural(each.questions, "question")}, ${each.level}</p><p><b class="figure">${number(each.best, 3)}</b> ${each.measure}<br /><span class="soft">best: ${each.system}</span></p><p class="soft small"><bdi>${each.name}</bdi></p>`}</li>`)}</ul>
  </${Page}>`;
}

function Report({ name, query }) {
  const answer = useApi("GET", `/v1/evaluation${asQuery({ name })}`);
  const { data, error } = answer;
  const measures = data ? [...new Set(data.rows.flatMap((row) => Object.keys(row.measures)))].sort((a, b) => (a === data.measure ? -1 : b === data.measure ? 1 : a.localeCompare(b))) : [];
  const chosen = measures.includes(query.get("measure")) ? query.get("measure") : data?.measure;
  return html`<${Page} title=${data ? `${data.dataset}${data.part ? ` · ${data.part}` : ""}` : "Report"} source=${[answer]} busy=${answer.loading}
    about=${data && `${plural(data.questions, "question")}, ${data.level}; seed ${data.seed}`} actions=${html`<${Link} class="button" to=${at("/ui/eval")}>All reports</${Link}>`}>
    <${Failure} error=${error} retry=${answer.reload} />
    ${!data && !error && html`<${Loading} />`}
    ${data && html`
      ${data.notes?.map((note) => html`<p class="box note">${note}</p>`)}
      <label class="row soft measure">Measure <select onChange=${(event) => go(withQuery({ measure: event.target.value }), { replace: true })}>${measures.map((each) => html`<option value=${each} selected=${each === chosen}>${each}</option>`)}</select></label>
      <${Table} data=${data} measure=${chosen} />
      <div class="cards two"><${Categories} data=${data} measure=${chosen} /><${Costs} data=${data} measure=${chosen} /></div>
      ${data.ablations?.length > 0 && html`<${Ablations} data=${data} />`}
      ${data.samples > 0 && html`<${Questions} name=${name} query=${query} measure=${chosen} categories=${Object.keys(data.categories || {})} />`}`}
  </${Page}>`;
}

function Interval({ value, ci, most }) {
  const x = (each) => (100 * each) / most;
  return html`<svg class="interval" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" y="3" width="100" height="4" /><rect class="fill" y="3" width=${x(value)} height="4" />${ci && html`<rect class="whisker" x=${x(ci[0])} y="4.2" width=${Math.max(0.5, x(ci[1]) - x(ci[0]))} height="1.6" />`}</svg>`;
}

function Table({ data, measure }) {
  const rows = [...data.rows].sort((a, b) => (b.measures[measure] ?? -1) - (a.measures[measure] ?? -1));
  const most = Math.max(1, ...rows.map((row) => row.ci?.[measure]?.[1] ?? row.measures[measure] ?? 0));
  return html`<div class="scroll panel" tabindex="0" role="group" aria-label="Systems"><table><caption>${measure} by system${data.confidence ? `, with ${Math.round(100 * data.confidence)} % intervals` : ""}</caption>
    <thead><tr><th scope="col">system</th><th scope="col">${measure}</th><th scope="col">interval</th><th scope="col" class="graphic"></th><th scope="col">p against bm25</th><th scope="col">tokens</th><th scope="col">p50</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row"><bdi>${row.system}</bdi></th>${row.error ? html`<td colspan="6" class="bad-text">${row.error}</td>` : html`
      <td><b>${number(row.measures[measure])}</b></td><td class="soft">${row.ci?.[measure] ? `${number(row.ci[measure][0])} – ${number(row.ci[measure][1])}` : "–"}</td><td class="graphic"><${Interval} value=${row.measures[measure] ?? 0} ci=${row.ci?.[measure]} most=${most} /></td>
      <td>${row.p_vs_bm25 === null || row.p_vs_bm25 === undefined || measure !== data.measure ? "–" : row.p_vs_bm25 < 0.001 ? "< 0.001" : number(row.p_vs_bm25)}</td><td>${row.cost?.tokens_returned === undefined ? "–" : count(Math.round(row.cost.tokens_returned))}</td><td>${data.timings?.systems?.[row.system]?.latency_ms_p50 === undefined ? "–" : milliseconds(data.timings.systems[row.system].latency_ms_p50)}</td>`}</tr>`)}</tbody></table></div>`;
}

function Categories({ data, measure }) {
  const names = Object.keys(data.categories || {});
  const rows = data.rows.filter((row) => !row.error);
  if (!names.length) return null;
  return html`<section class="panel" aria-label="By category"><h2>By category</h2><div class="scroll" tabindex="0" role="group" aria-label="By category"><table><thead><tr><th scope="col">category</th>${rows.map((row) => html`<th scope="col"><bdi>${row.system}</bdi></th>`)}</tr></thead>
    <tbody>${names.map((name) => {
      const values = rows.map((row) => row.by_category?.[name]?.[measure]);
      const best = Math.max(...values.filter((each) => each !== undefined));
      return html`<tr><th scope="row">${name} <span class="soft">${count(data.categories[name])}</span></th>${values.map((each) => html`<td class=${each === best ? "best" : ""}>${number(each)}</td>`)}</tr>`;
    })}</tbody></table></div></section>`;
}

// Each system by what it costs and how much it finds.
function Costs({ data, measure }) {
  const rows = data.rows.filter((row) => !row.error && row.cost?.tokens_returned !== undefined && row.measures[measure] !== undefined);
  if (rows.length < 2) return null;
  const [W, H] = [360, 220];
  const cost = rows.map((row) => row.cost.tokens_returned);
  const value = rows.map((row) => row.measures[measure]);
  const span = (list) => {
    const [low, high] = [Math.min(...list), Math.max(...list)];
    const room = (high - low) * 0.15 || Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  };
  const [[x0, x1], [y0, y1]] = [span(cost), span(value)];
  const x = (each) => 46 + ((W - 60) * (each - x0)) / (x1 - x0);
  const y = (each) => H - 34 - ((H - 54) * (each - y0)) / (y1 - y0);
  const labels = []; // systems that lie together have one label
  for (const row of rows) {
    const [px, py] = [x(row.cost.tokens_returned), y(row.measures[measure])];
    const near = labels.find((each) => Math.abs(each.x - px) < 90 && Math.abs(each.y - py) < 13);
    if (near) {
      near.names.push(row.system);
      near.x = px > W * 0.6 ? Math.min(near.x, px) : Math.max(near.x, px);
    } else labels.push({ x: px, y: py, names: [row.system] });
  }
  return html`<section class="panel" aria-label="Cost against recall"><h2>Cost against ${measure}</h2>
    <svg class="scatter" viewBox=${`0 0 ${W} ${H}`} role="img" aria-label=${rows.map((row) => `${row.system}: ${number(row.measures[measure])} for ${Math.round(row.cost.tokens_returned)} tokens`).join("; ")}>
      <line class="base" x1="46" y1=${H - 34} x2=${W - 14} y2=${H - 34} /><line class="base" x1="46" y1="14" x2="46" y2=${H - 34} />
      <text x=${W - 14} y=${H - 8} text-anchor="end">tokens returned →</text><text x="46" y="10">↑ ${measure}</text>
      <text x="46" y=${H - 20}>${count(Math.round(x0))}</text><text x=${W - 14} y=${H - 20} text-anchor="end">${count(Math.round(x1))}</text><text x="40" y=${H - 36} text-anchor="end">${number(y0, 2)}</text><text x="40" y="22" text-anchor="end">${number(y1, 2)}</text>
      ${rows.map((row) => html`<circle cx=${x(row.cost.tokens_returned)} cy=${y(row.measures[measure])} r="5" />`)}
      ${labels.map((each) => html`<text class="name" x=${each.x + (each.x > W * 0.6 ? -9 : 9)} y=${each.y + 4} text-anchor=${each.x > W * 0.6 ? "end" : "start"}>${each.names.join(", ")}</text>`)}
    </svg></section>`;
}

function Ablations({ data }) {
  const found = data.ablations.filter((each) => !each.error && each.delta !== null && each.delta !== undefined).sort((a, b) => a.delta - b.delta);
  const most = Math.max(...found.map((each) => Math.abs(each.delta)), 1e-9);
  return html`<section class="panel" aria-label="Ablations"><h2>What each part is worth</h2><p class="soft">Change of ${found[0]?.measure} when a part is left out or altered.</p>
    <ul class="bars wide">${found.map((each) => html`<li><span class="bar-name" title=${each.variant}><bdi>${each.variant}</bdi></span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8" /><rect class=${each.delta < 0 ? "loss" : "gain"} x=${each.delta < 0 ? 50 - (48 * -each.delta) / most : 50} width=${(48 * Math.abs(each.delta)) / most} height="8" /><rect class="now" x="49.8" width="0.4" height="8" /></svg>
      <span class="bar-count">${each.delta > 0 ? "+" : ""}${number(each.delta)}${each.ci ? html` <span class="soft small">(${number(each.ci[0])} … ${number(each.ci[1])})</span>` : ""}</span></li>`)}</ul>
    ${data.ablations.filter((each) => each.error).map((each) => html`<p class="soft small">${each.variant}: ${each.error}</p>`)}</section>`;
}

function Questions({ name, query, measure, categories }) {
  const offset = Number(query.get("offset")) || 0;
  const size = 20;
  const category = query.get("category");
  const answer = useApi("GET", `/v1/evaluation/questions${asQuery({ name, offset, limit: size, category })}`);
  const { data } = answer;
  return html`<section class="panel" aria-label="Questions"><div class="row wrap"><h2 class="grow">Single questions</h2>
    <label class="row soft">Category <select onChange=${(event) => go(withQuery({ category: event.target.value, offset: null }), { replace: true })}><option value="">all</option>${categories.map((each) => html`<option value=${each} selected=${each === category}>${each}</option>`)}</select></label></div>
    <${Failure} error=${answer.error} retry=${answer.reload} />
    <ul class="plain">${data?.questions.map((each) => html`<li><${Question} asked=${each} measure=${measure} /></li>`)}</ul>
    ${data && html`<div class="row"><span class="grow soft">${data.total ? `${count(offset + 1)}–${count(Math.min(data.total, offset + size))} of ${count(data.total)}` : "No question."}</span>
      <button type="button" disabled=${offset === 0} onClick=${() => go(withQuery({ offset: Math.max(0, offset - size) || null }), { replace: true })}>Earlier</button><button type="button" disabled=${offset + size >= data.total} onClick=${() => go(withQuery({ offset: offset + size }), { replace: true })}>Later</button></div>`}
  </section>`;
}

function Question({ asked, measure }) {
  const [open, set] = useState(false);
  const runs = asked.answers.flatMap((each) => (each.system ? [each] : ["single", "multi"].map((system) => ({ system, measures: each[system], cost: each.cost[system] || {}, ranking: [] }))));
  return html`<div class="question"><button type="button" class="quiet job" aria-expanded=${open ? "true" : "false"} onClick=${() => set(!open)}><code>${asked.query_id}</code> <span class="soft">${asked.category}</span> ${runs.map((run) => html`<span class=${`chip ${run.measures[measure] > 0 ? "" : "state ended"}`}>${run.system} ${number(run.measures[measure], 2)}</span>`)}</button>
    ${open && runs.map((run) => html`<div class="run"><h3>${run.system}</h3><p class="soft small">${Object.entries(run.measures).map(([name, value]) => `${name} ${number(value, 2)}`).join(" · ")} · ${Object.entries(run.cost).map(([name, value]) => `${name.replaceAll("_", " ")} ${count(value)}`).join(" · ")}</p>
      <ol>${run.ranking.slice(0, 20).map((id) => html`<li><code>${id}</code></li>`)}</ol></div>`)}</div>`;
}
