import { Component, h, type ComponentType, type FunctionComponent } from "preact";

/** Wraps a component so that it re-renders only when one of its props, or a signal that it reads, changes. */
export function memo<Props extends object>(component: FunctionComponent<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        if (name !== "children" && before[name] !== after[name]) return true;
      }
      return false;
    }
    override render() {
      return h(component, this.props as Props);
    }
  };
}
