import type { ComponentChildren } from "preact";
import { Dialog } from "../../ui/dialog";
import { useLeaveGuard } from "./use-leave-guard";
import { t } from "../../texts/translate";

const SHOWN_ONCE = {
  title: t`Leave without it?`,
  text: t`It is shown only now.`,
  stay: t`Stay here`,
  leave: t`Leave`,
};

interface ShownOnceDialogProps {
  title: string;
  class?: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog with what the service shows only once. It cannot be closed by accident. */
export function ShownOnceDialog({ title, class: extra, onClose, children }: ShownOnceDialogProps) {
  const release = useLeaveGuard(true, SHOWN_ONCE);
  const finish = () => {
    release();
    onClose();
  };
  return (
    <Dialog title={title} {...(extra === undefined ? {} : { class: extra })} isLocked onClose={finish}>
      <div class="body scroll">
        {children}
        <footer>
          <button type="button" class="btn primary" data-autofocus onClick={finish}>
            {t`Done`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
