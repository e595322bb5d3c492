import { Field, Switch } from "../../ui/form-fields";
import { integratorUrlHelp, PULL_HELP, PULL_LABEL, receiverUrlHelp } from "../admin/receiver-url";
import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";
import { AudienceFields } from "./audience-fields";
import { t } from "../../texts/translate";

/** The settings of an API channel besides its name. */
export interface NewApiChannel {
  integrator_url: string;
  pull: boolean;
  chunked: boolean;
  agent_ids: number[];
  department_ids: number[];
}

interface NewApiChannelFieldsProps {
  draft: NewApiChannel;
  problem: string | undefined;
  onChange: (draft: NewApiChannel) => void;
}

/** The settings of a new API channel: where its messages are sent, how, and who answers its chats. */
export function NewApiChannelFields({ draft, problem, onChange }: NewApiChannelFieldsProps) {
  const { agent_ids, department_ids } = draft;
  return (
    <>
      <Switch label={PULL_LABEL} help={PULL_HELP} isOn={draft.pull} onChange={(pull) => onChange({ ...draft, pull })} />
      {!draft.pull && <AddressFields draft={draft} problem={problem} onChange={onChange} />}
      <AudienceFields
        audience={{ agent_ids, department_ids }}
        onChange={(audience) => onChange({ ...draft, ...audience })}
      />
    </>
  );
}

function AddressFields({ draft, problem, onChange }: NewApiChannelFieldsProps) {
  const { api } = useWorkspace();
  const settings = useLoaded(() => api.get("/admin/settings"));
  return (
    <>
      <Field
        id="channel-server"
        label={t`Address of your server`}
        help={`${integratorUrlHelp(draft.integrator_url, true)} ${receiverUrlHelp(settings.value)}`}
        problem={problem}
      >
        {(attributes) => (
          <input
            {...attributes}
            class="input"
            type="url"
            inputmode="url"
            autocomplete="off"
            spellcheck={false}
            dir="ltr"
            placeholder="https://"
            value={draft.integrator_url}
            onInput={({ currentTarget }) => onChange({ ...draft, integrator_url: currentTarget.value })}
          />
        )}
      </Field>
      <Switch
        label={t`Chunked requests`}
        help={t`For servers that expect chunked transfer encoding.`}
        isOn={draft.chunked}
        onChange={(chunked) => onChange({ ...draft, chunked })}
      />
    </>
  );
}
