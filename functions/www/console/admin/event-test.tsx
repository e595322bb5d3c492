import { useState } from "preact/hooks";
import type { ReceiverTestResult, ServerClause } from "../../api/types";
import { SelectField } from "../../ui/form-fields";
import { FormSection } from "./detail-header";
import { ReceiverTest } from "./receiver-test";
import { ServerCheck } from "./server-check";
import { t } from "../../texts/translate";

interface EventTestProps<Name extends string> {
  events: readonly { value: Name; label: string }[];
  /** The event that is chosen at first. */
  initial: Name;
  help: string;
  /** Whether the page has changes that are not saved. */
  hasChanges?: boolean;
  /** Whether the receiver is a server, which has clauses to keep. */
  isServer?: boolean;
  send: (event: Name, clause: ServerClause) => Promise<ReceiverTestResult>;
}

/** The part of a receiver's page that sends it a sample event, and shows the response. */
export function EventTest<Name extends string>({
  events,
  initial,
  help,
  hasChanges,
  isServer = true,
  send,
}: EventTestProps<Name>) {
  const [event, setEvent] = useState(initial);
  return (
    <FormSection title={t`Test`}>
      <SelectField id="test-event" label={t`Event`} help={help} value={event} options={events} onChange={setEvent} />
      {hasChanges && <p class="quiet-text">{t`Changes that are not saved do not apply to the test.`}</p>}
      <ReceiverTest label={t`Send the event`} what={event} send={() => send(event, "accepts")}>
        {isServer && <ServerCheck send={(clause) => send(event, clause)} />}
      </ReceiverTest>
    </FormSection>
  );
}
