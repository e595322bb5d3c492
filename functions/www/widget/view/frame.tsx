/** @jsxImportSource #widget */
import { fill } from "../texts";
import type { Props } from "./props";
import { fillsScreen } from "./fills-screen";
import { DownIcon } from "./icons";
import { isComposing } from "./is-composing";
import type { Child } from "./jsx/jsx-runtime";

interface FrameProps extends Props {
  class?: string;
  children: Child;
}

/** The window's outermost element. For another person, it is created anew, with empty fields. */
export const Frame = ({ state: { texts, settings, person }, actions, class: name = "", children }: FrameProps) => (
  <section
    key={`${person}`}
    class={`window ${name}`}
    role="dialog"
    aria-modal={fillsScreen() || undefined}
    aria-label={fill(texts.chatWith, settings.title)}
    tabIndex={-1}
    onKeyDown={(event) => {
      if (event.key === "Escape" && !isComposing(event)) actions.close();
    }}
  >
    {children}
  </section>
);

export const CloseButton = ({ state, actions }: Props) => (
  <button type="button" key="close" class="icon" aria-label={state.texts.closeChat} onClick={actions.close}>
    <DownIcon />
  </button>
);

/** The window before its code is loaded. */
export const EmptyWindow = ({
  state,
  actions,
  hasFailed,
  retry,
}: Props & { hasFailed: boolean; retry: () => void }) => (
  <Frame class="frame" state={state} actions={actions}>
    <header class="hero">
      <CloseButton state={state} actions={actions} />
    </header>
    <div class="loading" role="status">
      <p>{hasFailed ? state.texts.notLoaded : state.texts.loading}</p>
      {hasFailed && (
        <button type="button" onClick={retry}>
          {state.texts.retry}
        </button>
      )}
    </div>
  </Frame>
);
