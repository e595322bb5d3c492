import { CopyButton } from "../../ui/copy-button";
import { Switch, TextField } from "../../ui/form-fields";
import { randomPassword } from "./password";

/** The minimum number of characters in a password. */
export const MIN_PASSWORD_CHARACTERS = 12;

export const passwordProblem = (password: string): Record<string, string> =>
  password.length < MIN_PASSWORD_CHARACTERS
    ? { password: `Enter at least ${MIN_PASSWORD_CHARACTERS} characters.` }
    : {};

interface OneTimeSwitchProps {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** Whether an agent must replace the password that an admin sets. */
export const OneTimeSwitch = ({ isOn, onChange }: OneTimeSwitchProps) => (
  <Switch
    label="Must be replaced at the next sign-in"
    help="The agent chooses another password before anything else, so that only the agent knows it."
    isOn={isOn}
    onChange={onChange}
  />
);

interface PasswordFieldProps {
  password: string;
  /** Tells the admin what to do with the password. */
  help?: string;
  problem: string | undefined;
  onInput: (password: string) => void;
}

/** A password that an admin sets. It is visible, because the admin has to pass it on. */
export function PasswordField({
  password,
  help = "Pass it on in a safe way. It cannot be shown again.",
  problem,
  onInput,
}: PasswordFieldProps) {
  return (
    <div class="with-button">
      <TextField
        id="password"
        label="Password"
        help={help}
        problem={problem}
        value={password}
        onInput={onInput}
        input={{ autocomplete: "new-password", spellcheck: false, dir: "ltr", maxLength: 254, "data-autofocus": true }}
      />
      <span class="buttons">
        <CopyButton text={password} label="Copy the password" />
        <button type="button" class="btn line" onClick={() => onInput(randomPassword())}>
          Generate
        </button>
      </span>
    </div>
  );
}
