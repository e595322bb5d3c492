import type { AllowedVisitorData } from "../../api/types";
import { Switch } from "../../ui/form-fields";
import { ChoiceList } from "../admin/choice-list";
import { FormSection } from "../admin/detail-header";
import type { DraftForm } from "../admin/draft-form";
import type { BotDraft } from "./bot-draft";
import { t } from "../../texts/translate";

const DATA: { id: AllowedVisitorData; name: string }[] = [
  { id: "contacts", name: t`E-mail address and phone number` },
  { id: "external_id", name: t`Id in your own system (API channels)` },
  { id: "user_token", name: t`User token that your page has set (widgets)` },
  { id: "custom_data", name: t`Custom data and answers to the contacts form (widgets)` },
  { id: "page", name: t`Title of the page and where the visitor came from (widgets)` },
  { id: "language", name: t`Language of the browser (widgets)` },
];

/** What the bot is told about visitors, and what visitors are told about the bot. */
export function VisitorFields({ form }: { form: DraftForm<BotDraft> }) {
  const { draft, change } = form;
  return (
    <FormSection title={t`Visitors and the bot`}>
      <Switch
        label={t`Tell visitors that a bot answers`}
        help={t`A line in the widget. Messages are marked as a bot's in any case. The audit log shows who has switched this off; in the European Union, visitors must be told.`}
        isOn={draft.disclosure}
        onChange={(disclosure) => change({ disclosure })}
      />
      <Switch
        label={t`Hand over at once if the visitor asks for a person`}
        help={t`Words such as “human” or “operator” in eight languages. The bot does not get this message, unless nobody is online.`}
        isOn={draft.human_words}
        onChange={(human_words) => change({ human_words })}
      />
      <Switch
        label={t`Let the bot suggest answers to agents`}
        help={t`While an agent has the chat, the bot's provider gets what both write, and may suggest answers. Agents decide what is sent.`}
        isOn={draft.standby}
        onChange={(standby) => change({ standby })}
      />
      <ChoiceList
        id="visitor_data"
        label={t`Personal data for the bot`}
        help={t`The bot always gets the visitor's name and the address of the page. Tick only what its provider may have.`}
        options={DATA}
        chosen={draft.visitor_data}
        problem={form.problems["visitor_data"]}
        onChange={(chosen) => change({ visitor_data: DATA.map(({ id }) => id).filter((id) => chosen.includes(id)) })}
      />
    </FormSection>
  );
}
