import { signal } from "@preact/signals";
import { Icon } from "./icons";
import { t } from "../texts/translate";

interface Toast {
  id: number;
  text: string;
  isBad: boolean;
  action: { label: string; run: () => void } | undefined;
}

export const toasts = signal<readonly Toast[]>([]);
const MAX_TOASTS = 3;
let lastId = 0;

/** Shows a short message at the bottom of the page. Returns a function that dismisses it. */
export function toast(
  text: string,
  options: { isBad?: boolean; action?: Toast["action"]; durationMs?: number } = {},
): () => void {
  const id = ++lastId;
  const newToast: Toast = { id, text, isBad: options.isBad ?? false, action: options.action };
  const otherToasts = toasts.peek().filter((other) => other.text !== text || other.action !== undefined);
  toasts.value = [...otherToasts, newToast].slice(-MAX_TOASTS);
  const dismiss = () => {
    toasts.value = toasts.peek().filter((other) => other.id !== id);
  };
  setTimeout(dismiss, options.durationMs ?? (newToast.isBad ? 9000 : 5000));
  return dismiss;
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, isBad, action }) => {
        const dismiss = () => {
          toasts.value = toasts.peek().filter((other) => other.id !== id);
        };
        return (
          <div key={id} class="toast">
            {isBad && <Icon name="circle-alert" />}
            <span>{text}</span>
            {action && (
              <button
                type="button"
                onClick={() => {
                  dismiss();
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" class="only-icon" aria-label={t`Dismiss`} onClick={dismiss}>
              <Icon name="x" />
            </button>
          </div>
        );
      })}
    </div>
  );
}
