import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons";
import { t } from "../texts/translate";

interface DialogProps {
  title: string;
  /** Whether the header is hidden. Screen readers still announce the title. */
  hidesHeader?: boolean;
  class?: string;
  /** Whether only the dialog's own buttons close it, because something would be lost otherwise. */
  isLocked?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A native modal dialog. It traps the focus, closes on Escape, and restores the previous focus. */
export function Dialog({ title, hidesHeader, class: extra, isLocked = false, onClose, children }: DialogProps) {
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
      closedby={isLocked ? "none" : undefined}
      onCancel={(event) => {
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current && !isLocked) onClose();
      }}
    >
      {!hidesHeader && (
        <header>
          <h2 dir="auto">{title}</h2>
          {!isLocked && (
            <button type="button" class="btn only-icon" aria-label={t`Close dialog`} onClick={onClose}>
              <Icon name="x" />
            </button>
          )}
        </header>
      )}
      {children}
    </dialog>
  );
}

interface SubmitButtonsProps {
  /** Whether the request is running. Its response may contain what is shown only once, so it cannot be cancelled. */
  isBusy?: boolean;
  label: string;
  busyLabel?: string;
  onCancel: () => void;
}

/** The buttons of a dialog whose form sends a request. */
export const SubmitButtons = ({ isBusy = false, label, busyLabel, onCancel }: SubmitButtonsProps) => (
  <footer>
    <button type="button" class="btn line" aria-disabled={isBusy} onClick={isBusy ? undefined : onCancel}>
      {t`Cancel`}
    </button>
    <button type="submit" class="btn primary" aria-disabled={isBusy}>
      {isBusy ? (busyLabel ?? label) : label}
    </button>
  </footer>
);
