import { CopyButton } from "../../ui/copy-button";
import { Switch, TextField } from "../../ui/form-fields";
import { t } from "../../texts/translate";

/** The minimum number of characters in a password. */
export const MIN_PASSWORD_CHARACTERS = 12;

/** 32 letters and digits that cannot be mistaken for each other. A random byte selects each of them with the same
 * probability, because 256 is a multiple of 32. */
const CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789Q";
const PASSWORD_CHARACTERS = 20;

/** Returns a random password of 100 bits. */
export function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(PASSWORD_CHARACTERS));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]).join("");
}

export const passwordProblem = (password: string): Record<string, string> =>
  password.length < MIN_PASSWORD_CHARACTERS
    ? { password: t`Enter at least ${MIN_PASSWORD_CHARACTERS} characters.` }
    : {};

interface OneTimeSwitchProps {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** Whether an agent must replace the password that an admin sets. */
export const OneTimeSwitch = ({ isOn, onChange }: OneTimeSwitchProps) => (
  <Switch
    label={t`Must be replaced at the next sign-in`}
    help={t`The agent chooses another password before anything else, so that only the agent knows it.`}
    isOn={isOn}
    onChange={onChange}
  />
);

interface PasswordFieldProps {
  value: string;
  /** Tells the admin what to do with the password. */
  help?: string;
  problem: string | undefined;
  onInput: (password: string) => void;
}

/** A password that an admin sets. It is visible, because the admin has to pass it on. */
export function PasswordField({
  value,
  help = t`Pass it on in a safe way. It cannot be shown again.`,
  problem,
  onInput,
}: PasswordFieldProps) {
  return (
    <div class="with-button">
      <TextField
        id="password"
        label={t`Password`}
        help={help}
        problem={problem}
        value={value}
        onInput={onInput}
        input={{ autocomplete: "new-password", spellcheck: false, dir: "ltr", maxLength: 254, "data-autofocus": true }}
      />
      <span class="buttons">
        <CopyButton text={value} label={t`Copy the password`} />
        <button type="button" class="btn line" onClick={() => onInput(randomPassword())}>
          {t`Generate`}
        </button>
      </span>
    </div>
  );
}
