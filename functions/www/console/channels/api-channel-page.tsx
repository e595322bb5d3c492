/* The page of a channel that uses the channel API. */

import { useState } from "preact/hooks";
import type { ApiChannel, Channel, ChannelSettings } from "../../api/types";
import { Segments, Switch, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { clockTime, dayLabel, fullTime } from "../../ui/time";
import { DETAIL_FORM_ID, DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { differences } from "../admin/form-changes";
import { integratorUrlHelp } from "../admin/receiver-url";
import { ReceiverTest } from "../admin/receiver-test";
import { RotationDialog } from "../admin/secret";
import { SigningSecret } from "../admin/signing-secret";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { CHANNELS_ROUTE } from "../state/page-routes";
import { useWorkspace } from "../workspace-context";
import { AudienceFields } from "./audience-fields";
import { ChannelAddress, SignatureCode } from "./channel-address";
import { DeleteChannel } from "./delete-channel";
import { useChannelForm } from "./use-channel-form";
import { commonChanges, type WidgetDraft } from "./widget-draft";

const MAX_OLD_ADDRESSES = 4;
const GROUPS = ["audience", "request"] as const;

type RequestSettings = Pick<
  ApiChannel,
  "integrator_url" | "append_channel_id" | "chunked" | "validation" | "shows_markdown" | "shows_buttons"
>;

export interface ApiDraft extends Pick<WidgetDraft, "name" | "enabled" | "audience"> {
  request: RequestSettings;
  /** The codes of the errors whose text agents do not see: what the admin has typed, separated by commas or spaces. */
  hiddenCodes: string;
}

const requestOf = (channel: ApiChannel): RequestSettings => {
  const { integrator_url, append_channel_id, chunked, validation, shows_markdown, shows_buttons } = channel;
  return { integrator_url, append_channel_id, chunked, validation, shows_markdown, shows_buttons };
};
const draftOf = (channel: ApiChannel): ApiDraft => {
  const { name, enabled, agent_ids, department_ids, hidden_error_codes } = channel;
  const audience = { agent_ids, department_ids };
  return { name, enabled, audience, request: requestOf(channel), hiddenCodes: hidden_error_codes.join(", ") };
};

const codesOf = (text: string) => text.split(/[\s,;]+/).filter((code) => code !== "");

function changesOf(channel: ApiChannel, draft: ApiDraft): ChannelSettings | undefined {
  const request = { ...draft.request, integrator_url: draft.request.integrator_url.trim() };
  const before = { hidden_error_codes: channel.hidden_error_codes };
  const changes = {
    ...commonChanges(channel, draft),
    ...differences(requestOf(channel), request),
    ...differences(before, { hidden_error_codes: codesOf(draft.hiddenCodes).map(Number) }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function problemsOfDraft({ name, hiddenCodes }: ApiDraft): Record<string, string> {
  return {
    ...(name.trim() === "" ? { name: "Give the channel a name." } : {}),
    ...(codesOf(hiddenCodes).every((code) => /^-?\d{1,15}$/.test(code))
      ? {}
      : { hidden_error_codes: "Enter whole numbers, separated by commas." }),
  };
}

const FIELD_NAMES = ["name", "integrator_url", "hidden_error_codes"];
const VALIDATIONS = [
  { value: "strict", label: "Strict" },
  { value: "lenient", label: "Lenient" },
] as const;
const VALIDATION_HELP: Record<ApiChannel["validation"], string> = {
  strict:
    "A message with a wrong field is rejected with the name of the field, and only a 200 with result ok counts as delivered. Use it for new integrations.",
  lenient:
    "Wrong optional fields are ignored, and any 2xx counts as delivered. Use it for an integration that already works with another service.",
};

interface ApiChannelPageProps {
  channel: ApiChannel;
  onStored: (channel: Channel) => void;
}

export function ApiChannelPage({ channel, onStored }: ApiChannelPageProps) {
  const { form, problems, setProblems, isBusy, save } = useChannelForm(channel, FIELD_NAMES, onStored);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(channel), GROUPS);
  const { api } = useWorkspace();
  // Keep the values of `refused` and `old_endpoints` with which the page was opened: the response to saving does not
  // contain these fields.
  const [rejected] = useState(channel.refused ?? []);
  const [oldEndpoints] = useState(channel.old_endpoints ?? []);
  const changeRequest = (changes: Partial<RequestSettings>) => change({ request: { ...draft.request, ...changes } });
  const changes = changesOf(channel, draft);
  useLeaveGuard(changes !== undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    const stored = await save(changes, problemsOfDraft(draft));
    if (stored !== undefined) showStored(draftOf(stored));
  };
  const discard = () => {
    setDraft(draftOf(channel));
    setProblems({});
  };
  const { request } = draft;
  return (
    <div class="detail-page">
      <DetailHeader
        name={channel.name}
        list={{ name: "All channels", route: CHANNELS_ROUTE }}
        form={{ hasChanges: changes !== undefined, isBusy, onDiscard: discard }}
      />
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <FormSection title="General">
            <TextField
              id="name"
              label="Name"
              help="Agents see it beside each chat."
              problem={problems["name"]}
              value={draft.name}
              onInput={(name) => change({ name })}
              input={{ maxLength: 255, dir: "auto" }}
            />
            <Switch
              label="Accepts messages of visitors"
              help="If off, open chats stay open and agents' replies are delivered."
              isOn={draft.enabled}
              onChange={(enabled) => change({ enabled })}
            />
            <AudienceFields audience={draft.audience} onChange={(audience) => change({ audience })} />
          </FormSection>
          <FormSection title="Your server">
            <TextField
              id="integrator_url"
              label="Address of your server"
              help={integratorUrlHelp(request.integrator_url, request.append_channel_id)}
              problem={problems["integrator_url"]}
              value={request.integrator_url}
              onInput={(integrator_url) => changeRequest({ integrator_url })}
              input={URL_INPUT}
            />
            <Switch
              label="Append the channel's id to the address"
              isOn={request.append_channel_id}
              onChange={(append_channel_id) => changeRequest({ append_channel_id })}
            />
            <Switch
              label="Chunked requests"
              help="For servers that expect chunked transfer encoding."
              isOn={request.chunked}
              onChange={(chunked) => changeRequest({ chunked })}
            />
            <div class="field">
              <Segments
                name="validation"
                label="Validation"
                value={request.validation}
                options={VALIDATIONS}
                onChange={(validation) => changeRequest({ validation })}
              />
              <span class="help">{VALIDATION_HELP[request.validation]}</span>
            </div>
            <Switch
              label="Shows formatted text"
              help="If off, a bot's formatted message is sent as its plain text. Without a plain text, nothing is sent."
              isOn={request.shows_markdown}
              onChange={(shows_markdown) => changeRequest({ shows_markdown })}
            />
            <Switch
              label="Shows buttons"
              help="If off, a bot's buttons are sent as their plain text. Without a plain text, nothing is sent."
              isOn={request.shows_buttons}
              onChange={(shows_buttons) => changeRequest({ shows_buttons })}
            />
            <TextField
              id="hidden_error_codes"
              label="Hidden error codes (optional)"
              help="Agents do not see the words of your server's errors with these codes."
              problem={problems["hidden_error_codes"]}
              value={draft.hiddenCodes}
              onInput={(hiddenCodes) => change({ hiddenCodes })}
              input={{ placeholder: "410, 423" }}
            />
          </FormSection>
        </form>
        <IntegratorTest channelId={channel.channel_id} hasChanges={changes !== undefined} />
        <ConnectSection channelId={channel.channel_id} oldEndpoints={oldEndpoints} />
        <SigningSecret
          rotate={(keep_old_seconds) =>
            api.post("/admin/channels/{channel_id}/signing-secret/rotate", {
              path: { channel_id: channel.channel_id },
              body: { keep_old_seconds },
            })
          }
        />
        <RejectedMessages rejected={rejected} />
        <DeleteChannel channel={channel} effect="Messages of visitors are no longer accepted." />
      </div>
    </div>
  );
}

/** Sends a sample message of an agent to the integrator, and shows the response. */
function IntegratorTest({ channelId, hasChanges }: { channelId: string; hasChanges: boolean }) {
  const { api } = useWorkspace();
  return (
    <FormSection title="Test of your server">
      <p class="quiet-text">
        A message of an agent is sent to your server at once, signed like real ones. The visitor does not exist, and
        nothing is stored.
        {hasChanges && " Changes that are not saved do not apply to the test."}
      </p>
      <ReceiverTest
        label="Send a message to your server"
        what="text"
        send={() => api.post("/admin/channels/{channel_id}/test", { path: { channel_id: channelId } })}
      />
    </FormSection>
  );
}

interface ConnectSectionProps {
  channelId: string;
  oldEndpoints: NonNullable<ApiChannel["old_endpoints"]>;
}

function ConnectSection({ channelId, oldEndpoints }: ConnectSectionProps) {
  const { api } = useWorkspace();
  const [isRotating, setRotating] = useState(false);
  const [validUntil, setValidUntil] = useState(() => oldEndpoints.map(({ valid_until }) => valid_until));
  const rotate = async (keep_old_seconds: number) => {
    const { endpoint, old_endpoint_valid_until: until } = await api.post("/admin/channels/{channel_id}/rotate", {
      path: { channel_id: channelId },
      body: { keep_old_seconds },
    });
    setValidUntil(keep_old_seconds === 0 ? [] : [...validUntil, until].slice(-MAX_OLD_ADDRESSES));
    return {
      view: <ChannelAddress endpoint={endpoint} />,
      note:
        keep_old_seconds === 0
          ? "It works now. All earlier addresses end within ten seconds."
          : `It works now. The old one is valid until ${fullTime(until)}.`,
    };
  };
  return (
    <FormSection title="Connect">
      <p class="quiet-text">
        Your front end sends visitors’ messages to the channel’s address. It was shown when it was created, and cannot
        be shown again. Requests to your server are signed with the channel’s secret.
      </p>
      {validUntil.length > 0 && (
        <div class="field">
          <span class="label">Old addresses that are still valid</span>
          <ul class="old-addresses">
            {validUntil.map((until, index) => (
              <li key={index}>until {fullTime(until)}</li>
            ))}
          </ul>
        </div>
      )}
      <div>
        <button type="button" class="btn line" onClick={() => setRotating(true)}>
          <Icon name="refresh-cw" />
          Create a new address…
        </button>
      </div>
      <SignatureCode />
      {isRotating && (
        <RotationDialog
          title="Create a new address?"
          thing="address"
          explanation="Front ends send messages to the new address. Up to four old ones stay valid, each for the time that was chosen for it."
          rotate={rotate}
          onClose={() => setRotating(false)}
        />
      )}
    </FormSection>
  );
}

function RejectedMessages({ rejected }: { rejected: NonNullable<ApiChannel["refused"]> }) {
  if (rejected.length === 0) return null;
  const now = Math.floor(Date.now() / 1000);
  return (
    <FormSection title="Rejected messages, today and yesterday">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Reason</th>
            <th scope="col" class="end">
              Count
            </th>
            <th scope="col" class="end">
              Last
            </th>
          </tr>
        </thead>
        <tbody>
          {rejected.map(({ day, reason, count, last_at }) => (
            <tr key={`${day} ${reason}`}>
              <td dir="auto">{reason}</td>
              <td class="num end">{count}</td>
              <td class="num end">
                {dayLabel(last_at, now)} {clockTime(last_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </FormSection>
  );
}
