// Numbers, times and names as people read them. Times are shown in UTC, as the API has them.
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});
const COUNT = new Intl.NumberFormat("en-GB");
const BEGINNING = "0001-01-01";

export const day = (iso) => (!iso ? "" : iso.startsWith(BEGINNING) ? "always" : DAY.format(new Date(iso)));
export const dateOf = (iso) => (/^\d{4}-\d\d-\d\d/.test(iso || "") ? iso.slice(0, 10) : ""); // what a date field takes
export const minute = (iso) => (!iso ? "" : iso.startsWith(BEGINNING) ? "always" : `${MINUTE.format(new Date(iso))} UTC`);
export const count = (value) => COUNT.format(value);
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (value) => (value === null || value === undefined ? "–" : `${Math.min(99, Math.round(100 * value))} %`);
export const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : typeof value === "number" ? value.toFixed(digits).replace("-", "−") : String(value);
export const milliseconds = (value) => (value < 10 ? `${value.toFixed(1)} ms` : value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`);

export function bytes(value) {
  if (value === undefined || value === null) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let place = 0;
  while (value >= 1000 && place < 3) {
    value /= 1000;
    place += 1;
  }
  return `${value.toFixed(place && value < 10 ? 1 : 0)} ${units[place]}`;
}

export function ago(iso, now) {
  if (!iso || iso.startsWith(BEGINNING)) return "always";
  const seconds = (new Date(now) - new Date(iso)) / 1000;
  const steps = [[60, "s"], [60, "min"], [24, "h"], [30, "d"], [12, "mo"], [Infinity, "y"]];
  let value = Math.abs(seconds);
  for (const [size, unit] of steps) {
    if (value < size) {
      const text = `${Math.floor(value)} ${unit}`;
      return seconds >= 0 ? (unit === "s" ? "just now" : `${text} ago`) : `in ${text}`;
    }
    value /= size;
  }
  return day(iso);
}

// Since and until when something is true, in a few words.
export function validity(node, now) {
  const since = node.t_valid?.startsWith(BEGINNING) ? "" : day(node.t_valid);
  if (node.t_invalid) {
    const over = new Date(node.t_invalid) <= new Date(now);
    return `${since || "…"} – ${day(node.t_invalid)}${over ? ", ended" : ""}`;
  }
  return since ? (new Date(node.t_valid) > new Date(now) ? `from ${since}` : `since ${since}`) : "always";
}

export function state(node, now) {
  if (node.t_expired) return "expired";
  if (node.archived) return "archived";
  if (node.t_invalid && new Date(node.t_invalid) <= new Date(now)) return "ended";
  if (node.t_valid && new Date(node.t_valid) > new Date(now)) return "future";
  return "";
}

export const own = (node) => (node.kind === "memory" && node.root ? node.root : node.id); // versions go by the id of their memory
export const headline = (node) => {
  const first = (node.title || node.text || "").trim().split("\n", 1)[0];
  return first.length > 140 ? `${first.slice(0, 140)}…` : first || "(empty)";
};
export const short = (id) => (id ? `${id.slice(0, 5)}…${id.slice(-4)}` : "");

// What the engine calls a part of a score, and what that means.
export const PARTS = {
  sparse: ["words", "The query's words, by BM25"],
  dense: ["meaning", "The vectors of query and text, by cosine"],
  tokens: ["tokens", "Query and text token by token (late interaction)"],
  named: ["name", "A name that the query has too"],
  path: ["path", "Reached along a link from another hit"],
  section: ["section", "How well its section fits"],
  questions: ["questions", "A question that it answers"],
  phrase: ["phrase", "A quoted phrase"],
  semantic: ["relevance", "How well it fits the question"],
  recency: ["recency", "How new it is"],
  importance: ["importance", "How much it matters"],
  access: ["use", "How often it was recalled"],
};
export const partName = (name) => PARTS[name]?.[0] || name.replaceAll("_", " ");
export const partAbout = (name) => PARTS[name]?.[1] || name.replaceAll("_", " ");

export const EVENTS = {
  ADD: "Remembered", REINFORCE_EXACT: "Said again", REINFORCE_NEAR: "Said again in other words", ACCESS: "Recalled",
  UPDATE: "Changed", SUPERSEDE: "Superseded", INVALIDATE: "Ended", EXPIRE: "No longer believed", FORGET: "Forgotten",
};
export const EDGES = {
  SUPERSEDES: "supersedes", RELATED: "related to", SHARES: "shares a name", ABOUT: "names what this is about", PART_OF: "part of",
  NAMES: "names", NAMED_BY: "named by", OPENS: "names the start of", FOLLOWS: "follows",
};
export const STUBS = { media: "only media", reference: "only references", sentence: "single short sentences", note: "notes without a verb", breadcrumb: "menus or paths" };
export const edgeName = (kind) => EDGES[kind] || kind.toLowerCase().replaceAll("_", " ");
