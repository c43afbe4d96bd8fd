// What is connected: the graph one or two hops around a memory, and the same as a list.
import { go, html, Link, memoryAt, useKeys, useMemo, useRef, useState, withQuery } from "./core.js";
import { useApi } from "./api.js";
import { Empty, Failure, Loading, Page } from "./parts.js";
import { edgeName, headline, number, plural } from "./format.js";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "./vendor/d3-force.js";

const WIDTH = 900;
const HEIGHT = 560;
const TICKS = 220;
const KINDS = ["SUPERSEDES", "RELATED", "SHARES", "ABOUT", "PART_OF"];
const kindClass = (kind) => `edge-${KINDS.includes(kind) ? kind.toLowerCase() : "other"}`;

// Place the nodes: the same data give the same picture, for nothing in here is drawn at random.
function layout(data) {
  const nodes = data.nodes.map((node, place) => {
    const angle = place * 2.399963; // the golden angle spreads any number of nodes evenly
    const far = node.hops * 130;
    return { ...node, x: WIDTH / 2 + far * Math.cos(angle), y: HEIGHT / 2 + far * Math.sin(angle), ...(node.hops === 0 && { fx: WIDTH / 2, fy: HEIGHT / 2 }) };
  });
  const known = new Set(nodes.map((node) => node.id));
  const links = data.edges.filter((edge) => known.has(edge.from) && known.has(edge.to)).map((edge) => ({ ...edge, source: edge.from, target: edge.to }));
  const simulation = forceSimulation(nodes).stop()
    .force("link", forceLink(links).id((node) => node.id).distance(130).strength((link) => 0.03 + 0.12 * link.weight))
    .force("charge", forceManyBody().strength(-900)).force("collide", forceCollide(26))
    .force("x", forceX(WIDTH / 2).strength(0.06)).force("y", forceY(HEIGHT / 2).strength(0.14));
  simulation.tick(TICKS);
  fit(nodes, "x", 90, WIDTH - 90);
  fit(nodes, "y", 34, HEIGHT - 24);
  return { nodes, links };
}

// Stretch the picture to the room that there is.
function fit(nodes, axis, low, high) {
  const values = nodes.map((node) => node[axis]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  for (const node of nodes) node[axis] = most > least ? low + ((high - low) * (node[axis] - least)) / (most - least) : (low + high) / 2;
}

// Which labels can be read: the nearest nodes first, and none over another.
function readable(nodes, limit = 30) {
  const taken = [];
  const free = (box) => taken.every((other) => box[0] > other[1] || box[1] < other[0] || box[2] > other[3] || box[3] < other[2]);
  const named = new Set();
  for (const node of nodes.slice(0, limit)) {
    const half = 3.4 * Math.min(26, headline(node).length) + 6;
    const box = [node.x - half, node.x + half, node.y - 30, node.y - 4];
    if (free(box)) {
      taken.push(box);
      named.add(node.id);
    }
  }
  return named;
}

const label = (text, most = 26) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function Around({ id, query }) {
  const hops = query.get("hops") === "2" ? 2 : 1;
  const answer = useApi("GET", `/v1/memories/${encodeURIComponent(id)}/graph?hops=${hops}&limit=${hops === 2 ? 100 : 50}`);
  const { data, error } = answer;
  const [here, set] = useState(null);
  const list = useRef(null);
  const placed = useMemo(() => data && layout(data), [data]);
  const ordered = data ? data.nodes : [];
  const step = (by) => {
    const place = Math.max(0, Math.min(ordered.length - 1, ordered.findIndex((node) => node.id === here) + by));
    set(ordered[place]?.id);
    list.current?.querySelectorAll("li")[place]?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => step(1), k: () => step(-1), g: () => here && go(memoryAt(here, "/around")),
    Enter: () => here && go(memoryAt(here)), Escape: () => go(memoryAt(id)),
  });
  const centre = data?.nodes[0];
  return html`<${Page} title=${centre ? `Around ${label(headline(centre), 60)}` : "Around"} source=${[answer]} busy=${answer.loading}
    about=${data && `${plural(data.nodes.length - 1, "neighbour")}, ${plural(data.edges.length, "link")}${data.cut ? "; there are more, the strongest are shown" : ""}`}
    actions=${html`<${Link} class="button" to=${memoryAt(id)}>Open</${Link}><div class="segmented" role="group" aria-label="How far">${[1, 2].map((far) => html`<button type="button" aria-pressed=${hops === far ? "true" : "false"} onClick=${() => go(withQuery({ hops: far === 1 ? null : far }), { replace: true })}>${plural(far, "hop")}</button>`)}</div>`}>
    <${Failure} error=${error} retry=${answer.reload} />
    ${!data && !error && html`<${Loading} />`}
    ${data && data.nodes.length === 1 && html`<${Empty} title="Nothing is connected with it"><p>Links come from names that two texts share, from what supersedes what, and from links that somebody made.</p></${Empty}>`}
    ${placed && data.nodes.length > 1 && html`
      <${Graph} placed=${placed} here=${here} choose=${set} />
      <p class="legend">${[...new Set(data.edges.map((edge) => edge.edge))].map((kind) => html`<span><svg class="swatch" viewBox="0 0 20 4" aria-hidden="true"><line class=${kindClass(kind)} x1="0" y1="2" x2="20" y2="2" /></svg>${edgeName(kind)}</span>`)}</p>
      <section aria-label="The same as a list"><h2>The same as a list</h2>
        <ul class="ties wide" ref=${list}>${ordered.slice(1).map((node) => html`<li class=${node.id === here ? "here" : ""}>
          <${Link} to=${memoryAt(node.id)} onFocus=${() => set(node.id)}><span dir="auto">${headline(node)}</span></${Link}>
          <span class="soft small">${plural(node.hops, "hop")} · ${tied(data, node).join(" · ")}</span>
          <${Link} class="small" to=${memoryAt(node.id, "/around", { hops: hops === 2 ? 2 : null })}>around it</${Link}></li>`)}</ul>
      </section>`}
  </${Page}>`;
}

// What ties a node to the centre, or to what is nearer to it, in a few words.
function tied(data, node) {
  const hops = new Map(data.nodes.map((each) => [each.id, each.hops]));
  const found = data.edges.filter((edge) => (edge.from === node.id && hops.get(edge.to) < node.hops) || (edge.to === node.id && hops.get(edge.from) < node.hops));
  return [...new Set(found.slice(0, 3).map((edge) => `${edgeName(edge.edge)}${edge.name ? ` ${edge.name}` : ""} ${number(edge.weight, 2)}`))];
}

function Graph({ placed, here, choose }) {
  const near = new Set(placed.links.filter((link) => link.source.id === here || link.target.id === here).flatMap((link) => [link.source.id, link.target.id]));
  const named = useMemo(() => readable(placed.nodes), [placed]);
  const faint = (id) => here && here !== id && !near.has(id);
  return html`<div class="graph"><svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    ${placed.links.map((link) => html`<line class=${`${kindClass(link.edge)} ${here && link.source.id !== here && link.target.id !== here ? "faint" : ""}`} x1=${link.source.x} y1=${link.source.y} x2=${link.target.x} y2=${link.target.y} stroke-width=${1 + 2.5 * link.weight}><title>${edgeName(link.edge)} ${link.name} ${number(link.weight, 2)}</title></line>`)}
    ${placed.nodes.map((node) => html`<g class=${`node hop-${node.hops} ${node.id === here ? "here" : ""} ${faint(node.id) ? "faint" : ""}`} transform=${`translate(${node.x} ${node.y})`} onClick=${() => go(memoryAt(node.id))} onMouseEnter=${() => choose(node.id)} onMouseLeave=${() => choose(null)}>
      <circle r=${node.hops === 0 ? 11 : 6 + 4 * node.importance} />${(node.id === here || near.has(node.id) && here || (!here && named.has(node.id))) && html`<text y=${node.hops === 0 ? -17 : -13} text-anchor="middle">${label(headline(node))}</text>`}<title>${headline(node)}</title></g>`)}
  </svg></div>`;
}
