/* The form with which agents replace their own password. */

import { useState } from "preact/hooks";
import { TextField } from "../../ui/form-fields";
import { FormProblem } from "../admin/detail-header";
import { useSettingsForm } from "../admin/use-settings-form";
import { api } from "../state/agent/session";
import { MIN_PASSWORD_CHARACTERS } from "../team/password-field";
import { t } from "../../texts/translate";

const FIELDS = { current: "current_password", new: "new_password" } as const;

interface OwnPasswordFormProps {
  /** Called with the number of other sessions that have ended. */
  onChanged: (endedSessions: number) => void;
}

export function OwnPasswordForm({ onChanged }: OwnPasswordFormProps) {
  const { form, problems, isBusy, send } = useSettingsForm(Object.values(FIELDS));
  const [current, setCurrent] = useState("");
  const [chosen, setChosen] = useState("");
  const [repeated, setRepeated] = useState("");

  const submit = async (event: Event) => {
    event.preventDefault();
    const found = {
      ...(current === "" ? { [FIELDS.current]: t`Enter your current password.` } : {}),
      ...(chosen.length < MIN_PASSWORD_CHARACTERS
        ? { [FIELDS.new]: t`Enter at least ${MIN_PASSWORD_CHARACTERS} characters.` }
        : {}),
      ...(repeated === chosen ? {} : { repeated: t`The two new passwords differ.` }),
    };
    const body = { current_password: current, new_password: chosen };
    const changed = await send(found, () => api.put("/agent/password", { body }));
    if (changed === undefined) return;
    setCurrent("");
    setChosen("");
    setRepeated("");
    onChanged(changed.ended_sessions);
  };
  const input = { type: "password", dir: "ltr", maxLength: 254 } as const;
  return (
    <form ref={form} class="own-password" noValidate onSubmit={(event) => void submit(event)}>
      <FormProblem text={problems[""]} />
      <TextField
        id={FIELDS.current}
        label={t`Current password`}
        problem={problems[FIELDS.current]}
        value={current}
        onInput={setCurrent}
        input={{ ...input, autocomplete: "current-password", "data-autofocus": true }}
      />
      <TextField
        id={FIELDS.new}
        label={t`New password`}
        help={t`At least ${MIN_PASSWORD_CHARACTERS} characters. A few words that belong to nobody else are good.`}
        problem={problems[FIELDS.new]}
        value={chosen}
        onInput={setChosen}
        input={{ ...input, autocomplete: "new-password" }}
      />
      <TextField
        id="repeated"
        label={t`New password again`}
        problem={problems["repeated"]}
        value={repeated}
        onInput={setRepeated}
        input={{ ...input, autocomplete: "new-password" }}
      />
      <button type="submit" class="btn primary" aria-disabled={isBusy}>
        {isBusy ? t`Setting…` : t`Set the new password`}
      </button>
    </form>
  );
}
