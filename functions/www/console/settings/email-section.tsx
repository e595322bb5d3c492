import { useRef } from "preact/hooks";
import { NUMBER_INPUT, Switch, TextAreaField, TextField } from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import type { Problems } from "../admin/use-settings-form";
import { newEmailDraft, type EmailDraft } from "./email-draft";
import { t } from "../../texts/translate";

interface EmailSectionProps {
  email: EmailDraft;
  /** Null if the operator has not set up a domain for e-mails. */
  domain: string | null;
  problems: Problems;
  onChange: (email: EmailDraft) => void;
}

export function EmailSection({ email, domain, problems, onChange }: EmailSectionProps) {
  /** What the fields contained when they were last shown, so that switching e-mails off and on keeps it. */
  const lastShown = useRef<NonNullable<EmailDraft>>(undefined);
  if (email !== null) lastShown.current = email;
  if (domain === null && email === null) {
    return (
      <FormSection title={t`E-mail`}>
        <p class="quiet-text">{t`This service sends no e-mails. Its operator can set up a domain for them.`}</p>
      </FormSection>
    );
  }
  return (
    <FormSection title={t`E-mail`}>
      <Switch
        label={t`Send e-mails`}
        help={
          domain === null ? t`The operator has removed the domain, so none are sent.` : t`From ${`chat@${domain}`}.`
        }
        isOn={email !== null}
        onChange={(isOn) => onChange(isOn ? (lastShown.current ?? newEmailDraft()) : null)}
      />
      {email !== null && <EmailFields email={email} problems={problems} onChange={onChange} />}
    </FormSection>
  );
}

interface EmailFieldsProps {
  email: NonNullable<EmailDraft>;
  problems: Problems;
  onChange: (email: EmailDraft) => void;
}

function EmailFields({ email, problems, onChange }: EmailFieldsProps) {
  const text = (name: "sender_name" | "transcript_to" | "away_minutes") => ({
    id: `email.${name}`,
    problem: problems[`email.${name}`],
    value: email[name],
    onInput: (typed: string) => onChange({ ...email, [name]: typed }),
  });
  return (
    <>
      <TextField {...text("sender_name")} label={t`Name of the sender`} />
      <Switch
        label={t`Send answers to visitors who have left a widget`}
        help={t`All messages that a visitor has missed are in one e-mail. The visitor can reply to it.`}
        isOn={email.answers_to_visitor}
        onChange={(answers_to_visitor) => onChange({ ...email, answers_to_visitor })}
      />
      {email.answers_to_visitor && (
        <TextField
          {...text("away_minutes")}
          label={t`Minutes a visitor must be away`}
          help={t`From 1 to 15.`}
          input={NUMBER_INPUT}
        />
      )}
      <TextAreaField
        {...text("transcript_to")}
        label={t`Send transcripts to`}
        help={t`Up to five addresses, one on each line. They get each chat in which an agent took part, two minutes after it was closed.`}
        area={{ rows: 3, spellcheck: false, dir: "ltr", placeholder: "team@shop.example" }}
      />
      <Switch
        label={t`Send transcripts to visitors`}
        help={t`To visitors whose e-mail address is known.`}
        isOn={email.transcript_to_visitor}
        onChange={(transcript_to_visitor) => onChange({ ...email, transcript_to_visitor })}
      />
    </>
  );
}
