import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { FormProblem, FormSection } from "../admin/detail-header";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** The last part of the page, which removes the provider after a question. */
export function RemoveProvider({ onRemoved }: { onRemoved: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <FormSection title={t`Remove`}>
      <p class="quiet-text">{t`Without a provider, nobody can call or be called.`}</p>
      <div>
        <button type="button" class="btn line bad" onClick={() => setAsking(true)}>
          <Icon name="trash-2" />
          {t`Remove the provider…`}
        </button>
      </div>
      {isAsking && <RemoveDialog onClose={() => setAsking(false)} onRemoved={onRemoved} />}
    </FormSection>
  );
}

function RemoveDialog({ onClose, onRemoved }: { onClose: () => void; onRemoved: () => void }) {
  const { api } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await api.delete("/admin/telephony");
      toast(t`The provider was removed.`);
      onRemoved();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={t`Remove the telephony provider?`} onClose={onClose}>
      <div class="body">
        <p>{t`Its credentials are deleted. Calls in progress are no longer reported and end by their time limits.`}</p>
        <FormProblem text={problem} />
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={onClose}>
            {t`Cancel`}
          </button>
          <button type="button" class="btn danger" aria-disabled={isBusy} onClick={() => void remove()}>
            {isBusy ? t`Removing…` : t`Remove`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
