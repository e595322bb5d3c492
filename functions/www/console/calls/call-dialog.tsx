import { useState } from "preact/hooks";
import { hasStatus, NetworkError } from "../../api/client";
import { Dialog } from "../../ui/dialog";
import { TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { sentence } from "../../ui/words";
import { toast } from "../../ui/toast";
import { useMounted } from "../../ui/use-mounted";
import { problemsOf, type Problems } from "../admin/use-settings-form";
import { closeOverlay } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { visitorName } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { rich, t, tIn } from "../../texts/translate";

const NOT_KNOWN = t`The service does not respond. It is not known whether the call was started.`;

/** A dialog that calls the visitor of a chat, at the visitor's number or at another one. */
export function CallDialog({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const row = workspace.chats.row(chatId);
  const known = workspace.timelines.open(chatId).chatDetails.value?.visitor.phone ?? "";
  const [phone, setPhone] = useState(known);
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Problems>({});
  const isOpen = useMounted();
  // The number and the idempotency key of the last request, so that repeating it after a lost response does not call
  // twice.
  const [request, setRequest] = useState({ phone: "", key: "" });

  const submit = async (event: Event) => {
    event.preventDefault();
    const number = phone.trim();
    if (isBusy) return;
    if (number === "") return setProblems({ phone: t`Enter a number.` });
    const { key } = request.phone === number ? request : { key: crypto.randomUUID() };
    setRequest({ phone: number, key });
    setBusy(true);
    setProblems({});
    try {
      const path = { chat_id: chatId };
      await workspace.api.post("/agent/chats/{chat_id}/call", { path, body: { phone: number }, idempotencyKey: key });
      await workspace.headers.refreshTimeline(chatId);
      // Do not close another dialog that the agent may have opened after closing this one.
      if (isOpen.current) closeOverlay();
    } catch (error) {
      // The service stores nothing for a refused request, so the next one is a new request.
      if (hasStatus(error, 400, 409, 422)) setRequest({ phone: "", key: "" });
      const isUnknown = error instanceof NetworkError;
      if (!isOpen.current)
        toast(isUnknown ? NOT_KNOWN : t`The visitor was not called. ${errorText(error)}`, { isBad: true });
      setProblems(isUnknown ? { "": NOT_KNOWN } : problemsOf(error, ["phone"]));
      setBusy(false);
    }
  };
  const problem = problems[""];
  return (
    <Dialog title={row === undefined ? t`Call the visitor` : t`Call ${visitorName(row)}`} onClose={closeOverlay}>
      <form class="body" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          id="call-phone"
          label={t`Phone number`}
          help={t`Your own phone rings first. The visitor is called as soon as you have answered.`}
          problem={problems["phone"]}
          value={phone}
          onInput={setPhone}
          input={{ type: "tel", dir: "ltr", maxLength: 254, "data-autofocus": true }}
        />
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            <Icon name="circle-alert" />
            <span>{explained(problem, workspace.isAdmin)}</span>
          </p>
        )}
        <footer>
          <button type="button" class="btn line" onClick={closeOverlay}>
            {t`Cancel`}
          </button>
          <button type="submit" class="btn primary" aria-disabled={isBusy}>
            <Icon name="phone" />
            {isBusy ? t`Calling…` : tIn("button", "Call")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Returns the problem as a sentence. If the problem can be solved on a page for admins, adds a link to that page for
 * an admin. Other agents are told that an admin can change it. */
function explained(problem: string, isAdmin: boolean) {
  const text = sentence(problem);
  const page = /provider|balance/.test(problem)
    ? { href: "#/telephony", name: t`Telephony` }
    : /your profile/.test(problem)
      ? { href: "#/team", name: t`Team` }
      : undefined;
  if (page === undefined) return text;
  return isAdmin ? (
    <>
      {text}{" "}
      {rich`See ${(
        <a class="link" href={page.href} onClick={closeOverlay}>
          {page.name}
        </a>
      )}.`}
    </>
  ) : (
    t`${text} An admin can change this.`
  );
}
