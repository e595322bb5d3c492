/* Creates and updates DOM nodes from JSX. The widget needs no other part of a framework, because its components are
   plain functions without state. Text is always inserted as text nodes, and event handlers are never set as
   attributes. */

import type { JSX as Preact } from "preact";

export type Child = ElementNode | string | number | boolean | null | undefined | Child[];

interface ElementNode {
  type: string;
  props: Record<string, unknown>;
  key: string | undefined;
}
interface TextNode {
  text: string;
}
type PlainNode = ElementNode | TextNode;
/** A DOM node, and the JSX node from which it was last rendered. */
interface Rendered {
  of: PlainNode;
  node: Element | Text;
  children: Rendered[];
}

type Component = (props: Record<string, unknown>) => Child;

export function jsx(type: string | Component, props: Record<string, unknown>, key?: string): Child {
  if (typeof type === "string") return { type, props, key };
  let child: Child;
  try {
    child = type(props);
  } catch (error) {
    // The other components are still shown.
    console.error(error);
    return null;
  }
  if (key !== undefined && typeof child === "object" && child !== null && "type" in child) child.key = key;
  return child;
}
export const jsxs = jsx;
export const Fragment = ({ children }: { children?: Child }): Child => children;

export namespace JSX {
  export type Element = Child;
  export type IntrinsicElements = Preact.IntrinsicElements;
  export interface ElementChildrenAttribute {
    children: unknown;
  }
  export interface IntrinsicAttributes {
    key?: string;
  }
}

const SVG = "http://www.w3.org/2000/svg";

/** Returns a function that renders its argument into `root`. It reuses the nodes that its previous call created. */
export function createRenderer(root: ParentNode & Node): (child: Child) => void {
  let rendered: Rendered[] = [];
  return (child) => {
    rendered = reconcile(root, rendered, child);
  };
}

function reconcile(parent: Node, before: Rendered[], child: Child): Rendered[] {
  const reusable = [...before];
  const after = flatten(child).map((wanted) => {
    const index = reusable.findIndex(({ of }) => isSame(of, wanted));
    const [found] = index < 0 ? [] : reusable.splice(index, 1);
    return update(found ?? create(wanted, parent), wanted);
  });
  for (const { node } of reusable) node.remove();
  after.forEach(({ node }, index) => {
    const present = parent.childNodes[index];
    if (present !== node) parent.insertBefore(node, present ?? null);
  });
  return after;
}

function flatten(child: Child): PlainNode[] {
  if (Array.isArray(child)) return child.flatMap(flatten);
  if (child === null || child === undefined || typeof child === "boolean" || child === "") return [];
  return [typeof child === "object" ? child : { text: String(child) }];
}

function isSame(one: PlainNode, other: PlainNode): boolean {
  if ("text" in one || "text" in other) return "text" in one && "text" in other;
  return one.type === other.type && one.key === other.key;
}

function create(wanted: PlainNode, parent: Node): Rendered {
  if ("text" in wanted) return { of: wanted, node: document.createTextNode(wanted.text), children: [] };
  const { type, props } = wanted;
  const isSvg = type === "svg" || (parent as Element).namespaceURI === SVG;
  const node = isSvg ? document.createElementNS(SVG, type) : document.createElement(type);
  if (props["defaultValue"]) (node as HTMLInputElement).value = String(props["defaultValue"]);
  return { of: { type, props: {}, key: undefined }, node, children: [] };
}

function update(rendered: Rendered, wanted: PlainNode): Rendered {
  const { node, of } = rendered;
  if ("text" in wanted) {
    if ((node as Text).data !== wanted.text) (node as Text).data = wanted.text;
  } else {
    const old = "props" in of ? of.props : {};
    for (const name of new Set([...Object.keys(old), ...Object.keys(wanted.props)]))
      if (old[name] !== wanted.props[name]) setProperty(node as Element, name, wanted.props[name]);
    rendered.children = reconcile(node, rendered.children, wanted.props["children"] as Child);
  }
  rendered.of = wanted;
  return rendered;
}

function setProperty(element: Element, name: string, value: unknown): void {
  if (name === "children" || name === "defaultValue") return;
  if (name.startsWith("on")) (element as unknown as Record<string, unknown>)[name.toLowerCase()] = value;
  else if (value === null || value === undefined || (value === false && !name.startsWith("aria")))
    element.removeAttribute(name);
  else element.setAttribute(name, value === true && !name.startsWith("aria") ? "" : String(value));
}
