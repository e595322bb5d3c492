import type { ComponentChildren } from "preact";

/** Lists labels with their values, and leaves out those without a value. */
export const Facts = ({ facts }: { facts: readonly (readonly [label: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(
      ([label, value]) =>
        value && [
          <dt key={label}>{label}</dt>,
          <dd key={`${label}-value`} dir="auto">
            {value}
          </dd>,
        ],
    )}
  </dl>
);
