/* Renders an OpenAPI document as one HTML page without scripts. All texts of the document are escaped. */

const METHODS = ["get", "post", "put", "patch", "delete"];
const NO_SCHEMA = {};

const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
const code = (value) => `<code>${escaped(typeof value === "string" ? value : JSON.stringify(value))}</code>`;
/** Escapes a text, in which backticks mark code. */
const prose = (text) => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
const paragraph = (text, name = "") => (text ? `<p${name && ` class="${name}"`}>${prose(text)}</p>` : "");
/** Escapes a path, which can be broken before each slash. */
const path = (text) => escaped(text).replaceAll("/", "<wbr>/");
const anchor = (text) => text.replace(/[^A-Za-z0-9]+/g, "-");
const nameOf = (reference) => reference.split("/").pop();

export function renderReference(document, style) {
  const resolved = (node) => (node?.$ref ? resolved(component(node.$ref)) : node);
  const component = (reference) =>
    reference
      .slice(2)
      .split("/")
      .reduce((node, key) => node[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);

  const schemaLink = (reference) => `<a href="#schema-${nameOf(reference)}">${nameOf(reference)}</a>`;

  /** Returns the type of a value in one line. */
  function type(schema) {
    if (schema === true || schema === undefined) return "any";
    if (schema === false) return "never";
    if (schema.$ref) return schemaLink(schema.$ref);
    if ("const" in schema) return code(schema.const);
    if (schema.enum) return schema.enum.map(code).join(" | ");
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives) return alternatives.map(type).join(" | ");
    if (schema.allOf)
      return (
        schema.allOf
          .filter((part) => part.$ref)
          .map(type)
          .join(" and ") || "object"
      );
    const names = [schema.type ?? (schema.properties ? "object" : "any")].flat();
    return names
      .map((name) => {
        if (name === "array") return `array of ${type(schema.items)}`;
        if (name === "object" && schema.additionalProperties?.constructor === Object)
          return `object of ${type(schema.additionalProperties)}`;
        return escaped(name);
      })
      .join(" | ");
  }

  /** Returns the bounds of a value as short texts. */
  function bounds(schema) {
    if (!schema || schema.$ref) return [];
    const range = (min, max, unit) => {
      if (min === undefined && max === undefined) return [];
      if (min === 1 && max === undefined && unit) return ["not empty"];
      if (max === undefined) return [`at least ${min}${unit}`];
      return [min === undefined ? `at most ${max}${unit}` : min === max ? `${min}${unit}` : `${min} to ${max}${unit}`];
    };
    const items = schema.items && !schema.items.$ref ? bounds(schema.items).map((bound) => `each: ${bound}`) : [];
    return [
      ...(schema.format ? [escaped(schema.format)] : []),
      ...range(schema.minimum, schema.maximum, ""),
      ...range(schema.minLength, schema.maxLength, " characters"),
      ...range(schema.minItems, schema.maxItems, " items"),
      ...range(schema.minProperties, schema.maxProperties, " fields"),
      ...(schema.pattern ? [`matches ${code(schema.pattern)}`] : []),
      ...("default" in schema && schema.default !== null ? [`default ${code(schema.default)}`] : []),
      ...(schema.deprecated ? ["deprecated"] : []),
      ...items,
    ];
  }

  /** Returns the schemas whose fields are listed with those of a schema: the schema, and the parts of `allOf`. */
  const merged = (schema) => [schema, ...(schema.allOf ?? []).filter((part) => !part.$ref).flatMap(merged)];

  /** Lists the fields of an object, of the items of an array or of the alternatives of a union, as far as these have no
   * name. Named schemas are listed once, at the end of the page. */
  function fields(schema) {
    if (!schema || schema.$ref) return "";
    const parts = merged(schema);
    const required = new Set(parts.flatMap((part) => part.required ?? []));
    const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {}));
    const rows = Object.entries(properties)
      .sort(([one], [other]) => required.has(other) - required.has(one))
      .map(([name, property]) => field(name, property, required.has(name)));
    const list = rows.length > 0 ? `<dl class="fields">${rows.join("")}</dl>` : "";
    const alternatives = schema.oneOf ?? schema.anyOf ?? [];
    const unnamed = alternatives.map(fields).filter(Boolean);
    const below = [schema.items, schema.additionalProperties]
      .filter((part) => part?.constructor === Object)
      .map(fields);
    return [list, ...unnamed.map((part) => `<div class="alternative">${part}</div>`), ...below].join("");
  }

  function field(name, schema, isRequired) {
    const marks = [...(isRequired ? ['<b class="required">required</b>'] : []), ...bounds(schema)];
    const facts = [`<span class="type">${type(schema)}</span>`, ...marks.map((mark) => `<span>${mark}</span>`)];
    return `<dt><code>${escaped(name)}</code> ${facts.join(" ")}</dt><dd>${paragraph(schema.description)}${fields(schema)}</dd>`;
  }

  /** Describes a value that has no name of its own, such as a body. */
  const value = (schema) =>
    schema
      ? `<p class="facts"><span class="type">${type(schema)}</span> ${bounds(schema)
          .map((bound) => `<span>${bound}</span>`)
          .join(" ")}</p>${paragraph(schema.description)}${fields(schema)}`
      : "";

  const examples = (media) =>
    Object.entries(media.examples ?? {})
      .map(
        ([name, example]) =>
          `<details><summary>Example: ${escaped(example.summary ?? name.replaceAll("_", " "))}</summary><pre tabindex="0">${escaped(JSON.stringify(example.value, null, 2))}</pre></details>`,
      )
      .join("");

  const content = (body) =>
    Object.entries(body.content ?? {})
      .map(([kind, media]) => `<p class="kind">${code(kind)}</p>${value(media.schema)}${examples(media)}`)
      .join("");

  function parameters(list) {
    const rows = list.map(resolved).map(({ name, in: place, description, required, schema = NO_SCHEMA }) => {
      const facts = [`<span>in ${place}</span>`, `<span class="type">${type(schema)}</span>`];
      if (required) facts.push('<b class="required">required</b>');
      facts.push(...bounds(schema).map((bound) => `<span>${bound}</span>`));
      return `<dt><code>${escaped(name)}</code> ${facts.join(" ")}</dt><dd>${paragraph(description)}</dd>`;
    });
    return rows.length > 0 ? `<h4>Parameters</h4><dl class="fields">${rows.join("")}</dl>` : "";
  }

  function responses(operation) {
    const rows = Object.entries(operation.responses).map(([status, response]) => {
      const { description, headers = {}, ...rest } = resolved(response);
      const names = Object.entries(headers).map(
        ([name, header]) => `${code(name)} ${escaped(resolved(header).description ?? "")}`,
      );
      const sent = names.length > 0 ? `<p>Headers: ${names.join(", ")}</p>` : "";
      const body = content(rest);
      const line = `<b class="status s${status[0]}">${status}</b> ${escaped(description)}`;
      // Errors have the same body everywhere, so they are folded away.
      if (!body && !sent) return `<div class="response"><p>${line}</p></div>`;
      return `<details class="response"${status[0] === "2" ? " open" : ""}><summary>${line}</summary>${sent}${body}</details>`;
    });
    return `<h4>Responses</h4>${rows.join("")}`;
  }

  function security(operation) {
    const names = (operation.security ?? []).flatMap(Object.keys);
    if (names.length === 0) return "";
    const isOptional = operation.security.some((one) => Object.keys(one).length === 0);
    const texts = names.map((name) => escaped(document.components.securitySchemes[name].description));
    return `<p class="security"><b>${isOptional ? "Credential, if any" : "Credential"}:</b> ${texts.join(" ")}</p>`;
  }

  function operation({ path: target, method, item, operation }) {
    const body = operation.requestBody && resolved(operation.requestBody);
    const heading = `<span class="method ${method}">${method.toUpperCase()}</span> <code>${path(target)}</code>`;
    return `<section id="${operation.operationId}"><h3><a href="#${operation.operationId}">${heading}</a></h3>
<p class="summary">${escaped(operation.summary ?? "")}</p>${paragraph(operation.description)}${security(operation)}
${parameters([...(item.parameters ?? []), ...(operation.parameters ?? [])])}
${body ? `<h4>Body${body.required ? "" : " (optional)"}</h4>${paragraph(body.description)}${content(body)}` : ""}
${responses(operation)}</section>`;
  }

  const operationsOf = (section) =>
    Object.entries(document[section] ?? {}).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => ({ path, method, item, operation: item[method] })),
    );
  const all = [...operationsOf("paths"), ...operationsOf("webhooks")];
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: all.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  const link = ({ path: target, method, operation }) =>
    `<li><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> <span>${path(target)}</span></a></li>`;
  const navigation = groups.map(
    ({ name, operations }) =>
      `<details open><summary>${escaped(name)}</summary><ul>${operations.map(link).join("\n")}</ul></details>`,
  );
  const schemaNames = Object.keys(document.components.schemas).sort();
  const schemaLinks = schemaNames.map((name) => `<li><a href="#schema-${name}">${name}</a></li>`).join("\n");
  const sections = groups.map(
    ({ name, description, operations }) =>
      `<h2 id="tag-${anchor(name)}">${escaped(name)}</h2>${paragraph(description)}${operations.map(operation).join("\n")}`,
  );
  const schemas = schemaNames.map(
    (name) =>
      `<section id="schema-${name}"><h3><a href="#schema-${name}">${name}</a></h3>${value(document.components.schemas[name])}</section>`,
  );
  const { title, summary, description, version } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} API reference</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Operations"><p><a href="#top">${escaped(title)} ${escaped(version)}</a></p>
${navigation.join("\n")}
<details><summary>Schemas</summary><ul>${schemaLinks}</ul></details></nav>
<main id="top"><h1>${escaped(title)} API reference</h1>
${paragraph(summary, "lead")}${paragraph(description)}
<p>This page shows <a href="/openapi.json"><code>/openapi.json</code></a> (OpenAPI ${escaped(document.openapi)}), from which code generators create clients.</p>
${sections.join("\n")}
<h2 id="schemas">Schemas</h2>
${schemas.join("\n")}</main>
</body>
</html>
`;
}
