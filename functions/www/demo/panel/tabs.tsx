/* Tabs with the keyboard behaviour of the ARIA Authoring Practices. Hidden tab panels stay in the page. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface Tab {
  id: string;
  title: string;
  count?: number;
  content: ComponentChildren;
}

export function Tabs({ label, tabs }: { label: string; tabs: [Tab, ...Tab[]] }) {
  const [selected, select] = useState(tabs[0].id);
  const selectedId = tabs.some(({ id }) => id === selected) ? selected : tabs[0].id;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const index = tabs.findIndex(({ id }) => id === selectedId);
    const next = tabs[(index + step + tabs.length) % tabs.length] ?? tabs[0];
    select(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, title, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-controls={`view-${id}`}
            aria-selected={id === selectedId}
            tabIndex={id === selectedId ? 0 : -1}
            onClick={() => select(id)}
          >
            {title}
            {count !== undefined && <small>{count}</small>}
          </button>
        ))}
      </div>
      {tabs.map(({ id, content }) => (
        <div
          key={id}
          class="view"
          role="tabpanel"
          id={`view-${id}`}
          aria-labelledby={`tab-${id}`}
          tabIndex={0}
          hidden={id !== selectedId}
        >
          {content}
        </div>
      ))}
    </>
  );
}
