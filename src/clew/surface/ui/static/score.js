// How a score is made: parts that add up to it, as a bar and as a table.
import { html } from "./core.js";
import { number, partAbout, partName } from "./format.js";

const SERIES = ["sparse", "dense", "tokens", "named", "path", "section", "recency", "importance", "access"];
export const colour = (name) => `part-${SERIES.includes(name) ? name : "other"}`;

// Split the relevance into its channels in proportion, as /v1/why does, so that all parts add up to the score.
export function parts(hit) {
  const { semantic, ...others } = hit.components;
  const channels = Object.entries(hit.channels).filter(([, place]) => place.contribution);
  const sum = channels.reduce((total, [, place]) => total + place.contribution, 0);
  const relevance = semantic?.contribution ?? 0;
  const split = sum > 0
    ? channels.map(([name, place]) => ({ name, value: (place.contribution / sum) * relevance }))
    : relevance ? [{ name: "semantic", value: relevance }] : [];
  const rest = Object.entries(others).map(([name, part]) => ({ name, value: part.contribution }));
  return [...split, ...rest].filter((part) => part.value).sort((a, b) => b.value - a.value);
}

export function ScoreBar({ hit, most }) {
  const found = parts(hit);
  const gains = found.filter((part) => part.value > 0);
  const gained = gains.reduce((total, part) => total + part.value, 0);
  const scale = 100 / Math.max(most || gained, 1e-9);
  let at = 0;
  const said = found.map((part) => `${partName(part.name)} ${number(part.value, 2)}`).join(", ");
  return html`<svg class="scorebar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${`Score ${number(hit.score, 2)}: ${said}`}>
    <rect class="track" x="0" y="0" width="100" height="6" />
    ${gains.map((part) => {
      const x = at;
      at += part.value * scale;
      return html`<rect class=${colour(part.name)} x=${x} y="0" width=${Math.max(0, part.value * scale - 0.3)} height="6"><title>${partName(part.name)} ${number(part.value)}</title></rect>`;
    })}
    ${gained > hit.score + 1e-6 && html`<rect class="taken" x=${hit.score * scale} y="0" width=${(gained - hit.score) * scale} height="6" />`}
  </svg>`;
}

export const gainOf = (hit) => parts(hit).reduce((total, part) => total + Math.max(0, part.value), 0);

export function ScoreTable({ hit }) {
  const { channels, components } = hit;
  return html`<table class="numbers">
    <caption>Parts of the score; they add up to it</caption>
    <thead><tr><th scope="col">part</th><th scope="col">rank</th><th scope="col">raw</th><th scope="col">adds</th></tr></thead>
    <tbody>
      ${parts(hit).map((part) => {
        const place = channels[part.name];
        const component = components[part.name];
        return html`<tr>
          <th scope="row" title=${partAbout(part.name)}><span class=${`dot ${colour(part.name)}`}></span>${partName(part.name)}</th>
          <td>${place?.rank ?? ""}</td>
          <td>${number(place ? place.score : component?.value, 2)}</td>
          <td>${number(part.value)}</td>
        </tr>`;
      })}
      <tr class="sum"><th scope="row">score</th><td></td><td></td><td>${number(hit.score)}</td></tr>
    </tbody>
  </table>`;
}
