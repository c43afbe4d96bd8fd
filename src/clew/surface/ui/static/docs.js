// The reference of the API, made from /openapi.json in the browser; nothing is loaded from elsewhere.
import { html, render, useEffect, useMemo, useState } from "./core.js";

const nameOf = (schema) => schema.$ref?.split("/").pop();
const anchor = (method, path) => `${method}${path.replaceAll(/[^a-z0-9]+/gi, "-")}`;

// What a field takes, in a few words.
export function typeOf(schema) {
  if (!schema) return "anything";
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.$ref) return nameOf(schema);
  const several = schema.anyOf || schema.oneOf;
  if (several) return several.filter((each) => each.type !== "null").map(typeOf).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  const limits = [schema.minimum !== undefined && `from ${schema.minimum}`, schema.maximum !== undefined && `to ${schema.maximum}`].filter(Boolean).join(" ");
  return [{ string: "text", integer: "whole number", number: "number", boolean: "true or false", object: "object" }[schema.type] || "anything", limits].filter(Boolean).join(" ");
}

const aboutOf = (schema) => schema.description || (schema.anyOf || []).find((each) => each.description)?.description || "";
const shownDefault = (schema) => (schema.default === undefined || schema.default === null || (Array.isArray(schema.default) && !schema.default.length) ? "" : ` Default: ${JSON.stringify(schema.default)}.`);

// An example of a value: what the document gives, else one made of its parts.
export function example(schema, schemas, depth = 0) {
  if (!schema || depth > 4) return null;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.$ref) return example(schemas[nameOf(schema)], schemas, depth + 1);
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  const several = schema.anyOf || schema.oneOf;
  if (several) return example(several.find((each) => each.type !== "null"), schemas, depth + 1);
  if (schema.type === "array") return [example(schema.items, schemas, depth + 1)];
  if (schema.type === "object" && schema.properties) {
    const wanted = Object.entries(schema.properties).filter(([name, each]) => schema.required?.includes(name) || each.examples);
    return Object.fromEntries(wanted.slice(0, 6).map(([name, each]) => [name, example(each, schemas, depth + 1)]));
  }
  return { string: "text", integer: 1, number: 0.5, boolean: true, object: {} }[schema.type] ?? null;
}

function Fields({ schema, schemas }) {
  const found = schema.$ref ? schemas[nameOf(schema)] : schema;
  const inner = (found?.anyOf || []).find((each) => each.$ref);
  if (inner) return html`<${Fields} schema=${inner} schemas=${schemas} />`;
  const rows = Object.entries(found?.properties || {});
  if (!rows.length) return html`<p class="soft">${aboutOf(found || {})}</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Fields"><table><thead><tr><th scope="col">field</th><th scope="col">takes</th><th scope="col">what it is</th></tr></thead>
    <tbody>${rows.map(([name, each]) => html`<tr><th scope="row"><code>${name}</code>${found.required?.includes(name) ? html` <span class="bad-text small">required</span>` : ""}</th><td>${typeOf(each)}</td><td>${aboutOf(each)}${shownDefault(each)}</td></tr>`)}</tbody></table></div>`;
}

function Route({ method, path, told, schemas }) {
  const body = told.requestBody?.content?.["application/json"]?.schema;
  const done = Object.entries(told.responses).filter(([status]) => status < 400);
  const refused = Object.entries(told.responses).filter(([status]) => status >= 400);
  const sample = body && example(body, schemas);
  const call = `curl -s${method === "get" ? "" : ` -X ${method.toUpperCase()}`} ${location.origin}${path}${sample ? ` -H 'Content-Type: application/json' -d '${JSON.stringify(sample).replaceAll("'", "'\\''")}'` : ""}`;
  return html`<section class="panel route" id=${anchor(method, path)} aria-label=${`${method.toUpperCase()} ${path}`}>
    <h2><span class=${`verb ${method}`}>${method.toUpperCase()}</span><a href=${`#${anchor(method, path)}`}>${path}</a></h2>
    <p class="about">${told.description}</p>
    ${told.parameters?.length > 0 && html`<h3>Parameters</h3><div class="scroll" tabindex="0" role="group" aria-label="Parameters"><table><thead><tr><th scope="col">name</th><th scope="col">takes</th><th scope="col">what it is</th></tr></thead>
      <tbody>${told.parameters.map((each) => html`<tr><th scope="row"><code>${each.name}</code> <span class="soft small">${each.in}</span></th><td>${typeOf(each.schema)}</td><td>${each.description || aboutOf(each.schema)}${shownDefault(each.schema)}</td></tr>`)}</tbody></table></div>`}
    ${body && html`<h3>Body</h3><${Fields} schema=${body} schemas=${schemas} />`}
    ${done.map(([status, each]) => {
      const schema = each.content?.["application/json"]?.schema;
      return html`<h3>${status} ${each.description}</h3>${schema && html`<details><summary>${nameOf(schema) || "fields"}</summary><${Fields} schema=${schema} schemas=${schemas} /></details>`}`;
    })}
    <h3>Refusals</h3><p class="refusals">${refused.map(([status, each]) => html`<span class="chip" title=${each.description}>${status}</span>`)}</p>
    <details><summary>As curl</summary><pre class="json" tabindex="0" aria-label="The request">${call}</pre></details>
  </section>`;
}

function Docs() {
  const [document_, set] = useState(null);
  const [failure, fail] = useState(null);
  const [filter, narrow] = useState("");
  useEffect(() => {
    fetch("/openapi.json").then((response) => response.json()).then(set, () => fail("The server does not answer. Is clew still running?"));
  }, []);
  useEffect(() => document_ && location.hash && document.getElementById(location.hash.slice(1))?.scrollIntoView(), [document_]);
  const routes = useMemo(() => Object.entries(document_?.paths || {}).flatMap(([path, methods]) => Object.entries(methods).map(([method, told]) => ({ path, method, told, tag: told.tags?.[0] || "other" }))), [document_]);
  if (failure) return html`<main><p class="box bad" role="alert">${failure}</p></main>`;
  if (!document_) return html`<main><p class="soft" role="status">Loading…</p></main>`;
  const shown = routes.filter(({ path, told }) => `${path} ${told.description}`.toLowerCase().includes(filter.toLowerCase()));
  const tags = [...new Set(shown.map((route) => route.tag))];
  return html`<div class="frame"><header class="side">
      <a class="brand" href="/ui/"><img src="/ui/static/icon.svg" alt="" width="24" height="24" />Clew API</a>
      <input type="search" value=${filter} onInput=${(event) => narrow(event.target.value)} placeholder="Find a route" aria-label="Find a route" />
      <nav aria-label="Routes">${tags.map((tag) => html`<h2>${tag}</h2><ul>${shown.filter((route) => route.tag === tag).map(({ path, method }) => html`<li><a href=${`#${anchor(method, path)}`}><span class=${`verb ${method}`}>${method.toUpperCase()}</span>${path.replace("/v1", "")}</a></li>`)}</ul>`)}</nav>
    </header>
    <main id="main"><header class="page-head"><div class="grow"><h1>${document_.info.title} API</h1><p class="soft">Version ${document_.info.version}. ${document_.info.description}</p></div><a class="button" href="/openapi.json">OpenAPI</a></header>
      <p class="about">A request needs <code>Authorization: Bearer TOKEN</code> as soon as the store has a token; before that everybody on this machine is the owner. An error is a problem document with a stable <code>code</code>. The fields of answers may grow; none is renamed.</p>
      ${shown.map((route) => html`<${Route} key=${route.method + route.path} ...${route} schemas=${document_.components.schemas} />`)}
      ${!shown.length && html`<p class="soft">No route is called that.</p>`}
    </main></div>`;
}

render(html`<${Docs} />`, document.getElementById("app"));
