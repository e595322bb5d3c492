import { useEffect } from "preact/hooks";
import type { ReplyActions } from "../../api/types";
import { Options } from "../../ui/form-fields";
import { TagLabel } from "../organizing/tag-label";
import type { People } from "../state/agent/roster";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

interface MacroFieldsProps {
  actions: ReplyActions;
  onChange: (actions: ReplyActions) => void;
}

/** Chooses what happens to the chat after the reply has been sent. */
export function MacroFields({ actions, onChange }: MacroFieldsProps) {
  const { roster } = useWorkspace();
  const people = roster.people.value;
  useEffect(() => {
    // Until the bots are loaded, they cannot be chosen.
    roster.loadWithBots().catch(() => {});
  }, []);
  const setTag = (tagId: number, isSet: boolean) => {
    const others = actions.add_tags.filter((id) => id !== tagId);
    onChange({ ...actions, add_tags: isSet ? [...others, tagId] : others });
  };
  return (
    <>
      {roster.tags.value.length > 0 && (
        <fieldset class="field">
          <legend>{t`Then put these tags on the chat`}</legend>
          <div class="tag-options scroll">
            {roster.tags.value.map((tag) => (
              <label key={tag.tag_id}>
                <input
                  type="checkbox"
                  checked={actions.add_tags.includes(tag.tag_id)}
                  onChange={(event) => setTag(tag.tag_id, event.currentTarget.checked)}
                />
                <TagLabel tag={tag} />
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <div class="field">
        <label for="canned-last">{t`Then`}</label>
        <select
          id="canned-last"
          class="input"
          value={lastActionOf(actions)}
          onChange={(event) => onChange({ add_tags: actions.add_tags, ...actionNamed(event.currentTarget.value) })}
        >
          <Options options={lastActions(people)} />
        </select>
      </div>
    </>
  );
}

type LastAction = Pick<ReplyActions, "close" | "transfer_to">;

/** Returns the value of the option that stands for the last action. */
function lastActionOf({ close, transfer_to: to }: LastAction): string {
  if (to === undefined) return close ? "close" : "";
  if ("agent_id" in to) return `agent:${to.agent_id}`;
  return "department_id" in to ? `department:${to.department_id}` : `bot:${to.bot_id}`;
}

function actionNamed(value: string): LastAction {
  const [kind, ...rest] = value.split(":");
  const id = rest.join(":");
  if (kind === "agent") return { close: false, transfer_to: { agent_id: Number(id) } };
  if (kind === "department") return { close: false, transfer_to: { department_id: Number(id) } };
  if (kind === "bot") return { close: false, transfer_to: { bot_id: id } };
  return { close: kind === "close" };
}

const lastActions = (people: People | undefined) => [
  { value: "", label: t`Keep the chat` },
  { value: "close", label: t`Close the chat` },
  ...(people?.departments ?? []).map(({ id, name }) => ({ value: `department:${id}`, label: t`Transfer to ${name}` })),
  ...(people?.agents ?? []).map(({ id, name }) => ({ value: `agent:${id}`, label: t`Transfer to ${name}` })),
  ...(people?.bots ?? []).map(({ bot_id, name }) => ({ value: `bot:${bot_id}`, label: t`Transfer to ${name}` })),
];
