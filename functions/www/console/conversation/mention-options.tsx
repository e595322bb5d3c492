import type { Colleague } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import type { MentionList } from "./use-mention-list";
import { t } from "../../texts/translate";

/** The colleagues above the composer who can be mentioned. */
export function MentionOptions({ list, onChoose }: { list: MentionList; onChoose: (agent: Colleague) => void }) {
  return (
    <div class="suggestions scroll">
      <ul id="mentions" role="listbox" aria-label={t`Colleagues`}>
        {list.items.map((agent, index) => (
          <li
            key={agent.id}
            id={`mention-${index}`}
            role="option"
            aria-selected={index === list.selectedIndex}
            onMouseDown={(event) => {
              event.preventDefault();
              onChoose(agent);
            }}
            onMouseMove={() => list.select(index)}
          >
            <Avatar id={agent.id} name={agent.name} photo={agent.photo} class="small" />
            <span dir="auto">{agent.name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
