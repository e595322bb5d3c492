import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { Field, Segments } from "../../ui/form-fields";
import { lazyComponent } from "../../ui/lazy-component";
import { useWorkspace } from "../workspace-context";
import { channelRoute } from "../state/page/page-routes";
import { navigate } from "../state/page/route";
import type { CreatedChannel } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { parseSites } from "../admin/parse-sites";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useRequestGuard } from "../admin/use-leave-guard";
import { fieldProblem } from "../admin/use-settings-form";
import type { NewApiChannel } from "./new-api-channel-fields";
import { t } from "../../texts/translate";

const NOTHING_CHOSEN: NewApiChannel = {
  integrator_url: "",
  pull: false,
  chunked: false,
  agent_ids: [],
  department_ids: [],
};

type Kind = "widget" | "api";
const KINDS = [
  { value: "widget", label: t`Website` },
  { value: "api", label: t`API` },
] as const;
const KIND_HELP: Record<Kind, string> = {
  widget: t`A chat window on your website, embedded with one tag.`,
  api: t`An app or site of yours that sends messages to an address.`,
};
const FIELD_NAMES = ["name", "integrator_url", "widget.allowed_sites"];

/** A dialog for creating a channel. After an API channel has been created, the dialog shows its URL and secret. After a
 * widget has been created, the dialog closes and the widget's page opens. */
export function ChannelDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  /** Called after an API channel has been created. */
  onCreated: ((channel: CreatedChannel) => void) | undefined;
}) {
  const { api, channels } = useWorkspace();
  const [kind, setKind] = useState<Kind>("widget");
  const [name, setName] = useState("");
  const [draft, setDraft] = useState(NOTHING_CHOSEN);
  const [sites, setSites] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ text: string; field: string | undefined }>();
  const [createdChannel, setCreatedChannel] = useState<CreatedChannel>();

  const release = useRequestGuard(isBusy);

  const problemOf = (field: string) => (problem?.field === field ? problem.text : undefined);
  const create = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === "") return setProblem({ text: t`Give the channel a name.`, field: "name" });
    if (kind === "api" && !draft.pull && !/^https?:\/\/[^\s/]+/i.test(draft.integrator_url.trim()))
      return setProblem({ text: t`Enter an address that starts with https://.`, field: "integrator_url" });
    setBusy(true);
    setProblem(undefined);
    try {
      const body =
        kind === "widget"
          ? { kind, name: name.trim(), widget: { allowed_sites: parseSites(sites) } }
          : { kind, name: name.trim(), ...draft, integrator_url: draft.pull ? null : draft.integrator_url.trim() };
      const created = await api.post("/admin/channels", { body });
      if (created.kind === "widget") {
        channels.put(created);
        release();
        onClose();
        return navigate(channelRoute(created.channel_id));
      }
      // Keep the endpoint URL and the signing secret, which are shown only once, out of the list of channels.
      const { endpoint, signing_secret: signingSecret, ...listed } = created;
      channels.put(listed);
      const channel = { name: body.name, endpoint, signingSecret };
      setCreatedChannel(channel);
      onCreated?.(channel);
    } catch (error) {
      const field = error instanceof ApiError ? FIELD_NAMES.find((name) => name === error.field) : undefined;
      setProblem({ text: field && error instanceof ApiError ? fieldProblem(error) : errorText(error), field });
    } finally {
      setBusy(false);
    }
  };

  if (createdChannel !== undefined)
    return <CreatedChannelDialog key="created" channel={createdChannel} onClose={onClose} />;
  return (
    <Dialog key="question" title={t`Add a channel`} isLocked={isBusy} onClose={onClose}>
      <form class="body scroll" onSubmit={(event) => void create(event)} noValidate>
        <div class="field">
          <Segments name="kind" label={t`Where visitors write`} value={kind} options={KINDS} onChange={setKind} />
          <span class="help">{KIND_HELP[kind]}</span>
        </div>
        <Field id="channel-name" label={t`Name`} help={t`Agents see it beside each chat.`} problem={problemOf("name")}>
          {(attributes) => (
            <input
              {...attributes}
              class="input"
              data-autofocus
              autocomplete="off"
              maxLength={255}
              placeholder={kind === "widget" ? t`Web shop` : t`iOS app`}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        {kind === "widget" ? (
          <Field
            id="channel-sites"
            label={t`Allowed sites (optional)`}
            help={t`One host on each line. Without sites, every page may show the widget.`}
            problem={problemOf("widget.allowed_sites")}
          >
            {(attributes) => (
              <textarea
                {...attributes}
                class="input"
                rows={2}
                spellcheck={false}
                dir="ltr"
                placeholder={"shop.example\n*.shop.example"}
                value={sites}
                onInput={(event) => setSites(event.currentTarget.value)}
              />
            )}
          </Field>
        ) : (
          <NewApiChannelFields draft={draft} problem={problemOf("integrator_url")} onChange={setDraft} />
        )}
        {problem !== undefined && (
          <p class={problem.field === undefined ? "notice bad" : "sr"} role="alert">
            {problem.text}
          </p>
        )}
        <SubmitButtons isBusy={isBusy} label={t`Connect`} busyLabel={t`Connecting…`} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const NewApiChannelFields = lazyComponent(() =>
  import("./new-api-channel-fields").then(({ NewApiChannelFields }) => NewApiChannelFields),
);

const CreatedChannelBody = lazyComponent(() =>
  import("./channel-address").then(({ CreatedChannelBody }) => CreatedChannelBody),
);

function CreatedChannelDialog({ channel, onClose }: { channel: CreatedChannel; onClose: () => void }) {
  return (
    <ShownOnceDialog title={t`${channel.name} is connected`} class="wide-dialog" onClose={onClose}>
      <CreatedChannelBody endpoint={channel.endpoint} signingSecret={channel.signingSecret} />
    </ShownOnceDialog>
  );
}
