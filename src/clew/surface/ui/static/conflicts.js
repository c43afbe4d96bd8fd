// What contradicts what?
import { go, html, Link, memoryAt, Shell, useContext, useKeys, useState } from "./core.js";
import { query as asQuery, request, useApi } from "./api.js";
import { Chip, Empty, Failure, Facts, Loading, Page } from "./parts.js";
import { day, percent, plural } from "./format.js";

const KINDS = { value: "different value", number: "different number", negation: "one denies the other", state: "different state" };

// Split a text where it differs from another, word by word, from both ends.
export function difference(text, other) {
  const [a, b] = [text.split(/(\s+)/), other.split(/(\s+)/)];
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first += 1;
  let last = 0;
  while (last < a.length - first && last < b.length - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last += 1;
  return [a.slice(0, first).join(""), a.slice(first, a.length - last).join(""), a.slice(a.length - last).join("")];
}

export function Conflicts() {
  const { space, me, can, notify } = useContext(Shell);
  const answer = useApi("GET", `/v1/conflicts${asQuery({ space, limit: 50 })}`);
  const [done, mark] = useState(new Set());
  const [place, set] = useState(0);
  const [busy, work] = useState(false);
  const found = (answer.data?.conflicts || []).filter((each) => !done.has(each.id));
  const here = found[Math.min(place, found.length - 1)];
  const writable = can("write");
  // The newer of the two is the one that counts, unless somebody says otherwise.
  const newer = (each) => (each.first.t_valid > each.second.t_valid ? each.first : each.second);
  const older = (each) => (newer(each) === each.first ? each.second : each.first);
  const resolve = (each, path, body, message) => async () => {
    if (!each || !writable || busy) return;
    work(true);
    try {
      const outcome = await request("POST", path, body);
      if (path.endsWith("/supersede") && !outcome.supersedes) throw new Error(`Not superseded: ${outcome.rule || outcome.outcome}.`);
      mark(new Set([...done, each.id]));
      notify(message);
    } catch (error) {
      notify(error.message, "bad");
    }
    work(false);
  };
  const memory = (node, tail) => `/v1/memories/${encodeURIComponent(node.id)}/${tail}`;
  const acts = (each) => each && {
    s: resolve(each, memory(older(each), "supersede"), { text: newer(each).text, valid_from: newer(each).t_valid }, "Superseded: the newer counts, the older stays for earlier times."),
    b: resolve(each, `/v1/conflicts/${encodeURIComponent(each.id)}/dismiss`, undefined, "Both are kept; this pair is not shown again."),
    1: resolve(each, memory(each.first, "invalidate"), {}, "The first is no longer true."),
    2: resolve(each, memory(each.second, "invalidate"), {}, "The second is no longer true."),
  };
  const press = (key) => () => acts(here)?.[key]();
  useKeys({
    j: () => set(Math.min(found.length - 1, place + 1)), k: () => set(Math.max(0, place - 1)),
    s: press("s"), b: press("b"), 1: press("1"), 2: press("2"), Enter: () => here && go(memoryAt(here.first.id)),
  });
  const missing = answer.error?.status === 404;
  return html`<${Page} title="Conflicts" about="Memories that say different things about the same subject at the same time" source=${[answer]} busy=${answer.loading}>
    ${missing ? html`<${Empty} title="Not available"><p>This server does not look for conflicts (/v1/conflicts answers 404). A newer version of Clew does.</p></${Empty}>` : html`<${Failure} error=${answer.error} retry=${answer.reload} />`}
    ${!answer.data && !answer.error && html`<${Loading} what="Comparing memories" />`}
    ${answer.data && !found.length && html`<${Empty} title=${done.size ? "All of them are resolved" : "No two memories contradict each other"}><p class="soft">Pairs are shown that share a subject, hold at the same time, and differ in a value, a number, a negation or a state.</p></${Empty}>`}
    ${found.length > 0 && html`<p class="soft" aria-live="polite">${plural(found.length, "pair")}${!writable ? " · you may not change anything here" : ""}</p>`}
    <ol class="conflicts">${found.map((each, number) => html`<li key=${each.id} class=${`panel ${each === here ? "here" : ""}`} onClick=${() => set(number)}>
      <div class="row wrap"><${Chip} kind="state ended">${KINDS[each.kind] || each.kind}</${Chip}><span class="grow" dir="auto">${each.explanation}</span><span class="soft small" title="how sure">${percent(each.score)}</span></div>
      <div class="pair">${[["first", each.first, each.second], ["second", each.second, each.first]].map(([name, node, other]) => {
        const [before, differs, after] = difference(node.text, other.text);
        return html`<div class="side"><p class="soft small">${name}${newer(each) === node ? " · newer" : ""}</p><p class="text" dir="auto">${before}<mark>${differs}</mark>${after}</p><${Facts} node=${node} now=${me.now} /><${Link} class="small" to=${memoryAt(node.id)}>Open</${Link}></div>`;
      })}</div>
      ${each.overlap?.from && html`<p class="soft small">Both hold ${each.overlap.to ? `from ${day(each.overlap.from)} to ${day(each.overlap.to)}` : `since ${day(each.overlap.from)}`}.</p>`}
      <div class="row wrap">${[["s", "The newer supersedes", "primary"], ["b", "Keep both", ""], ["1", "First is not true", ""], ["2", "Second is not true", ""]].map(([key, name, kind]) => html`<button type="button" class=${kind} disabled=${!writable || busy} onClick=${acts(each)[key]}>${name} <kbd>${key}</kbd></button>`)}</div>
    </li>`)}</ol>
  </${Page}>`;
}
