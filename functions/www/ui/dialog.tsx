import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons";

interface DialogProps {
  title: string;
  /** Whether the header is hidden. Screen readers still announce the title. */
  hidesHeader?: boolean;
  class?: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A native modal dialog. It traps the focus, closes on Escape, and restores the previous focus. */
export function Dialog({ title, hidesHeader, class: extra, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    const first = element?.querySelector<HTMLElement>("[data-autofocus]");
    first?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={extra}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {!hidesHeader && (
        <header>
          <h2 dir="auto">{title}</h2>
          <button type="button" class="btn only-icon" aria-label="Close dialog" onClick={onClose}>
            <Icon name="x" />
          </button>
        </header>
      )}
      {children}
    </dialog>
  );
}
