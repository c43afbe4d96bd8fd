// Everything that changes something: each asks before, shows what the API answered, and is off without the right.
import { html, Shell, useContext, useEffect, useState } from "./core.js";
import { request, useApi } from "./api.js";
import { Dialog, Failure, Field, Loading } from "./parts.js";
import { plural } from "./format.js";

// A dialog with fields that sends one request; it stays open with the error where that fails.
export function Act({ open, title, close, fields, initial = {}, send, name, danger, children, done }) {
  const { notify } = useContext(Shell);
  const [values, set] = useState(initial);
  const [state, is] = useState({});
  useEffect(() => {
    if (open) {
      set(initial);
      is({});
    }
  }, [open]);
  const submit = async (event) => {
    event.preventDefault();
    if (state.busy) return;
    is({ busy: true });
    try {
      const answer = await send(values);
      is({});
      if (done(answer, values) !== false) close();
    } catch (error) {
      is({ error });
      if (!error.status) notify(error.message, "bad");
    }
  };
  const input = (field) => {
    const common = { name: field.name, required: field.required, onInput: (event) => set({ ...values, [field.name]: event.target.value }) };
    if (field.type === "text") return html`<textarea rows=${field.rows || 4} dir="auto" ...${common} value=${values[field.name] ?? ""} autofocus=${field.first}></textarea>`;
    if (field.options) return html`<select ...${common} value=${values[field.name] ?? ""}>${field.options.map((each) => html`<option value=${each} selected=${values[field.name] === each}>${each || "–"}</option>`)}</select>`;
    return html`<input type=${field.type || "text"} min=${field.min} max=${field.max} step=${field.step} placeholder=${field.placeholder} ...${common} value=${values[field.name] ?? ""} autofocus=${field.first} autocomplete="off" />`;
  };
  return html`<${Dialog} open=${open} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${children}
      <div class="fields">${(fields || []).map((field) => html`<${Field} label=${field.label} help=${field.help} wide=${field.type === "text" || field.wide}>${input(field)}</${Field}>`)}</div>
      <${Failure} error=${state.error} />
      <div class="row end"><button type="button" onClick=${close}>Cancel</button>
        <button type="submit" class=${danger ? "danger" : "primary"} disabled=${state.busy}>${state.busy ? "Working…" : name}</button></div>
    </form>
  </${Dialog}>`;
}

const listOf = (text) => (text || "").split(",").map((each) => each.trim()).filter(Boolean);

export function AddDialog({ open, close, added }) {
  const { me, space, notify } = useContext(Shell);
  const fields = [
    { name: "text", label: "What should be remembered?", type: "text", rows: 5, required: true, first: true },
    { name: "title", label: "Title", help: "a short name; may stay empty" },
    { name: "category", label: "Category", options: ["", ...me.categories] },
    { name: "tags", label: "Tags", help: "with commas between" },
    { name: "valid_from", label: "True since", type: "date", help: "now, if empty" },
  ];
  const send = (values) => {
    const body = { text: values.text, space };
    for (const name of ["title", "category", "valid_from"]) if (values[name]) body[name] = values[name];
    if (values.tags) body.tags = listOf(values.tags);
    return request("POST", "/v1/memories", body);
  };
  const done = (outcome) => {
    const said = { inserted: "Remembered.", exact_duplicate: "It was there already; counted as said again.", near_duplicate: "Nearly the same was there already; counted as said again." };
    if (outcome.outcome === "rejected") {
      notify(`Not kept: rule ${outcome.rule}${outcome.value !== undefined ? `, ${outcome.value} against ${outcome.limit}` : ""}.`, "bad");
      return false;
    }
    notify(said[outcome.outcome]);
    for (const note of outcome.notes || []) notify(note);
    added(outcome);
    return true;
  };
  return html`<${Act} open=${open} title=${`Remember in ${space}`} close=${close} fields=${fields} send=${send} name="Remember" done=${done} />`;
}

export function MemoryActions({ node, changed, gone }) {
  const { can, notify, me } = useContext(Shell);
  const [open, set] = useState("");
  const close = () => set("");
  const path = `/v1/memories/${encodeURIComponent(node.id)}`;
  const writable = can("write");
  const after = (message) => () => {
    notify(message);
    changed();
  };
  const direct = (name, body, message) => async () => {
    try {
      await request("POST", `${path}/${name}`, body);
      after(message)();
    } catch (error) {
      notify(error.message, "bad");
    }
  };
  const over = node.t_invalid && new Date(node.t_invalid) <= new Date(me.now);
  const button = (name, label, kind = "") => html`<button type="button" class=${kind} disabled=${!writable} onClick=${() => set(name)}>${label}</button>`;
  const labels = [
    { name: "title", label: "Title" }, { name: "category", label: "Category", options: [...new Set([node.category, ...me.categories])] },
    { name: "importance", label: "Importance", type: "number", min: 0, max: 1, step: "any", help: "0 to 1" },
    { name: "stability", label: "Stability", options: ["static", "dynamic", "ephemeral", "unknown"], help: "how fast it goes out of date" },
    { name: "tags", label: "Tags", help: "with commas between" }, { name: "source", label: "Source" },
  ];
  const initial = { title: node.title, category: node.category, importance: String(node.importance), stability: node.stability, tags: node.tags.join(", "), source: node.source };
  const edit = (values) => {
    const body = {};
    for (const name of ["title", "category", "stability", "source"]) if (values[name] !== initial[name]) body[name] = values[name];
    if (values.importance !== initial.importance) body.importance = Number(values.importance);
    if (values.tags !== initial.tags) body.tags = listOf(values.tags);
    return request("PATCH", path, body);
  };
  const supersede = (values) => request("POST", `${path}/supersede`, { text: values.text, ...(values.valid_from && { valid_from: values.valid_from }) });
  const superseded = (outcome) => {
    if (!outcome.supersedes) {
      notify(`Not replaced: ${outcome.rule || outcome.outcome}.`, "bad");
      return false;
    }
    notify("Superseded: the new text counts from now on, the old one stays for earlier times.");
    changed(outcome.id);
    return true;
  };
  return html`<div class="actions">
    ${!writable && html`<p class="soft small">${me.name} lacks the right to write here.</p>`}
    <div class="row wrap">
      ${node.kind === "memory" && button("supersede", "Supersede", "primary")}
      ${button("edit", "Edit")}
      ${node.kind === "memory" && !over && !node.t_expired && button("end", "No longer true")}
      ${node.kind === "memory" && !node.t_expired && button("expire", "Never was true")}
      ${node.kind === "memory" && (over || node.t_expired) && html`<button type="button" disabled=${!writable} onClick=${direct("reassert", undefined, "True again, from now on.")}>True again</button>`}
      <button type="button" disabled=${!writable} onClick=${direct("protect", { protected: !node.protected }, node.protected ? "No longer protected." : "Protected from being forgotten.")}>${node.protected ? "Unprotect" : "Protect"}</button>
      ${node.archived && html`<button type="button" disabled=${!writable} onClick=${direct("unarchive", undefined, "Back from the archive.")}>Unarchive</button>`}
      ${button("forget", "Forget", "danger")}
    </div>
    <${Act} open=${open === "edit"} title="Edit" close=${close} fields=${labels} initial=${initial} send=${edit} name="Save" done=${after("Saved.")}><p class="soft">The text itself is superseded, so that what was believed stays known.</p></${Act}>
    <${Act} open=${open === "supersede"} title="Supersede" close=${close} initial=${{ text: node.text }} send=${supersede} name="Supersede" done=${superseded}
      fields=${[{ name: "text", label: "What is true instead", type: "text", rows: 6, required: true, first: true }, { name: "valid_from", label: "True since", type: "date", help: "now, if empty" }]} />
    <${Act} open=${open === "end"} title="No longer true" close=${close} send=${(values) => request("POST", `${path}/invalidate`, values.at ? { at: values.at } : {})} name="End it" done=${after("Ended. It stays for earlier times.")}
      fields=${[{ name: "at", label: "It stopped being true at", type: "date", help: "now, if empty", first: true }]} />
    <${Act} open=${open === "expire"} title="Never was true" close=${close} danger send=${() => request("POST", `${path}/expire`)} name="Stop believing it" done=${after("No longer believed, for any time.")}><p>It is no longer found, for any time. What was believed until now stays known.</p></${Act}>
    <${Forget} open=${open === "forget"} ids=${[node.id]} close=${close} done=${gone} />
  </div>`;
}

export function Forget({ open, ids, close, done }) {
  const [options, set] = useState({ only: false, force: false, tombstone: true });
  const [state, is] = useState({});
  const body = { ids, ...options };
  const preview = useApi("POST", open && !state.receipt ? "/v1/forget" : null, open ? { ...body, dry_run: true } : undefined);
  const { can } = useContext(Shell);
  useEffect(() => is({}), [open]);
  const forget = async (event) => {
    event.preventDefault();
    is({ busy: true });
    try {
      is({ receipt: await request("POST", "/v1/forget", body) });
    } catch (error) {
      is({ error });
    }
  };
  const finish = () => {
    close();
    if (state.receipt) done(state.receipt);
  };
  const check = (name, label) => html`<label class="check"><input type="checkbox" checked=${options[name]} onChange=${(event) => set({ ...options, [name]: event.target.checked })} /> ${label}</label>`;
  const found = preview.data;
  return html`<${Dialog} open=${open} title=${state.receipt ? "Forgotten" : "Forget for good"} close=${finish}>
    ${state.receipt ? html`<${Receipt} receipt=${state.receipt} /><div class="row end"><button type="button" class="primary" onClick=${finish}>Close</button></div>`
      : html`<form onSubmit=${forget}>
        <p>This removes ${plural(ids.length, "memory", "memories")} from the store and its files, with every version. It cannot be undone.</p>
        <${Failure} error=${preview.error} />
        ${found ? html`<p class="box note">Goes: ${Object.entries(found.removed).map(([kind, number]) => plural(number, kind, kind === "memory" ? "memories" : `${kind}s`)).join(", ") || "nothing"}.${found.forgotten.length > ids.length && ` With ${plural(found.forgotten.length - ids.length, "memory", "memories")} that superseded it.`}</p>` : !preview.error && html`<${Loading} what="Looking what would go" />`}
        ${check("only", "leave what superseded it")}
        ${check("force", "also if it is protected")}
        ${check("tombstone", "refuse the same text if it is offered again")}
        <${Failure} error=${state.error} />
        <div class="row end"><button type="button" onClick=${close}>Cancel</button><button type="submit" class="danger" disabled=${!can("write") || state.busy || !found}>${state.busy ? "Erasing and searching the files…" : "Forget"}</button></div>
      </form>`}
  </${Dialog}>`;
}

export function Receipt({ receipt }) {
  return html`<p><strong>${plural(receipt.forgotten.length, "memory is", "memories are")} gone.</strong>
      ${receipt.files.length > 0 ? ` A search of ${plural(receipt.files.length, "file")} found ${receipt.found ? plural(receipt.found, "trace") : "no trace"} of ${receipt.forgotten.length > 1 ? "them" : "it"}.` : ""}</p>
    <table class="numbers"><caption>What was removed and searched</caption><tbody>
      ${Object.entries(receipt.removed).map(([kind, number]) => html`<tr><th scope="row">${kind}</th><td>${number}</td></tr>`)}
      ${receipt.files.map((file) => html`<tr><th scope="row"><bdi>${file.file.split("/").pop()}</bdi></th><td>${file.found} found</td></tr>`)}
      <tr><th scope="row">texts refused from now on</th><td>${receipt.tombstones}</td></tr>
    </tbody></table>
    ${receipt.remains.map((each) => html`<p class="box bad">${each}</p>`)}
    ${receipt.unchecked.length > 0 && html`<p class="soft small">Not searched: ${receipt.unchecked.join("; ")}</p>`}
    ${receipt.shared > 0 && html`<p class="soft small">${plural(receipt.shared, "piece")} of the text is also in other memories, which stay.</p>`}`;
}

// What can be done with the selected memories at once.
export function Bulk({ ids, clear, done }) {
  const { can, notify } = useContext(Shell);
  const [open, set] = useState(false);
  if (!ids.length) return null;
  const protect = async () => {
    try {
      for (const id of ids) await request("POST", `/v1/memories/${encodeURIComponent(id)}/protect`, { protected: true });
      notify(`Protected ${plural(ids.length, "memory", "memories")}.`);
      clear();
      done();
    } catch (error) {
      notify(error.message, "bad");
    }
  };
  return html`<div class="bulk" role="region" aria-label="Selected memories">
    <span>${plural(ids.length, "memory", "memories")} selected</span>
    <button type="button" disabled=${!can("write")} onClick=${protect}>Protect</button>
    <button type="button" class="danger" disabled=${!can("write")} onClick=${() => set(true)}>Forget…</button>
    <button type="button" class="quiet" onClick=${clear}>Clear</button>
    <${Forget} open=${open} ids=${ids} close=${() => set(false)} done=${() => { clear(); done(); }} />
  </div>`;
}
