/* Finds the console's texts in its source: the keys of the catalogues, and English words that are not translated.

     node texts/extract.mjs            prints what each language lacks, and what it has without need
     node texts/extract.mjs --keys     prints the keys with their English plural forms, as JSON */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const FOLDERS = ["console", "ui", "files", "socket", "texts"];
/** The attributes whose values people read. */
const SHOWN_ATTRIBUTES = new Set(["label", "title", "placeholder", "aria-label", "alt", "help", "text", "caption"]);
/** The operators whose result can be one of their operands, or contain it. */
const VALUE_OPERATORS = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.PlusToken,
]);
/** Names, codes and keys, which are the same in every language. */
const SAME_EVERYWHERE =
  /^(Switchboard|CRM|CSV|JSON|SQS|Twilio|Jivo|Python|Node|PHP|[A-Za-z]|webhook-id|https:\/\/|whsec_…|refund|<\/body>|\{\w+\})$/;

/** Returns the source files of the console as syntax trees. */
export function sourceFiles(root) {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  return names
    .filter((name) => /\.tsx?$/.test(name) && !/(\.test\.tsx?|\.d\.ts)$/.test(name))
    .sort()
    .map((name) => ts.createSourceFile(name, readFileSync(join(root, name), "utf8"), ts.ScriptTarget.Latest, true));
}

/** Returns the keys of all texts. The value is undefined, or the English forms of a plural. Fails for a text that is not
 * a literal. */
export function findKeys(files) {
  const keys = new Map();
  for (const file of files) visit(file, (node) => addKey(keys, node));
  return keys;
}

function addKey(keys, node) {
  if (ts.isTaggedTemplateExpression(node) && ["t", "rich"].includes(node.tag.getText()))
    add(keys, templateKey(node.template), undefined);
  if (!ts.isCallExpression(node)) return;
  const [first, second, third] = node.arguments;
  const callee = node.expression.getText();
  if (callee === "tIn") add(keys, `${literal(second)} (${literal(first)})`, undefined);
  if (callee === "plural") add(keys, literal(third), { one: literal(second), other: literal(third) });
}

function add(keys, key, forms) {
  const known = keys.get(key);
  if (keys.has(key) && JSON.stringify(known) !== JSON.stringify(forms)) throw new Error(`two meanings of "${key}"`);
  keys.set(key, forms);
}

const templateKey = (template) =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.templateSpans.reduce((key, span, index) => `${key}{${index}}${span.literal.text}`, template.head.text);

function literal(node) {
  if (node !== undefined && ts.isStringLiteralLike(node)) return node.text;
  throw new Error(`not a literal text: ${node?.parent.getText()}`);
}

/** Returns the English words in elements and attributes that are not translated, with their place. */
export function findBareTexts(files) {
  const found = [];
  for (const file of files)
    visit(file, (node) => {
      const text = bareText(node);
      if (text === undefined || !/\p{L}/u.test(text) || SAME_EVERYWHERE.test(text) || isAddress(text)) return;
      found.push(`${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${text}`);
    });
  return found;
}

/** Whether each word is a host or a path. */
const isAddress = (text) =>
  text
    .trim()
    .split(/\s+/)
    .every((word) => /[./]\w/.test(word));

function bareText(node) {
  if (ts.isJsxText(node)) return node.text.trim();
  if (ts.isStringLiteralLike(node)) return isRendered(node) ? node.text : undefined;
  if (!ts.isTemplateExpression(node) || !isRendered(node)) return undefined;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(" ");
}

/** Whether the value of an expression is a child of an element, or an attribute that people read. */
function isRendered(node) {
  const { parent } = node;
  if (ts.isJsxAttribute(parent)) return isShown(parent);
  if (ts.isJsxExpression(parent)) return isRendered(parent);
  if (ts.isJsxElement(parent) || ts.isJsxFragment(parent)) return true;
  const isValue =
    ts.isParenthesizedExpression(parent) ||
    (ts.isConditionalExpression(parent) && node !== parent.condition) ||
    (ts.isBinaryExpression(parent) && VALUE_OPERATORS.has(parent.operatorToken.kind));
  return isValue && isRendered(parent);
}

/** Some components have the property `name` for a name in words. */
const isShown = ({ name, initializer }) =>
  SHOWN_ATTRIBUTES.has(name.getText()) || (name.getText() === "name" && /[A-Z ]/.test(initializer.text ?? ""));

function visit(node, callback) {
  callback(node);
  ts.forEachChild(node, (child) => visit(child, callback));
}

const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();

/** Returns what is wrong with a catalogue. */
export function catalogueProblems(language, catalogue, keys) {
  const problems = [...keys.keys()].filter((key) => !Object.hasOwn(catalogue, key)).map((key) => `lacks "${key}"`);
  for (const [key, entry] of Object.entries(catalogue)) {
    if (!keys.has(key)) problems.push(`has "${key}" without need`);
    else problems.push(...entryProblems(language, key, entry, keys.get(key)));
  }
  return problems;
}

function entryProblems(language, key, entry, forms) {
  if ((forms === undefined) !== (typeof entry === "string")) return [`has another kind of entry for "${key}"`];
  if (forms === undefined) return sameTexts(key, [entry], [key.replace(/ \(\w+\)$/, ""), key]);
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const missing = categories.filter((category) => entry[category] === undefined);
  return [
    ...missing.map((category) => `lacks the form "${category}" of "${key}"`),
    ...sameTexts(key, Object.values(entry), [forms.other, forms.one]),
  ];
}

/** A plural form may leave out the number, as "one chat" does. */
const sameTexts = (key, texts, english) =>
  texts
    .filter((text) => text.trim() === "" || !english.some((one) => places(one) === places(text)))
    .map((text) => `has other placeholders than "${key}": "${text}"`);

export const readCatalogue = (root, language) =>
  JSON.parse(readFileSync(join(root, "texts", language, "console.json"), "utf8"));

/** The languages that have a catalogue of the console. */
export const catalogueLanguages = (root) =>
  readdirSync(join(root, "texts"), { recursive: true })
    .map((name) => /^(\w+)[\\/]console\.json$/.exec(name)?.[1])
    .filter((language) => language !== undefined);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const files = sourceFiles(root);
  const keys = findKeys(files);
  if (process.argv.includes("--keys"))
    console.log(
      JSON.stringify(
        [...keys].map(([key, forms]) => forms ?? key),
        null,
        1,
      ),
    );
  else {
    for (const language of catalogueLanguages(root))
      for (const problem of catalogueProblems(language, readCatalogue(root, language), keys))
        console.log(`${language} ${problem}`);
    for (const text of findBareTexts(files)) console.log(`not translated: ${text}`);
  }
}
