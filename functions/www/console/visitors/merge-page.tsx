/* The page on which an agent merges a visitor with another one who is the same person, and separates them again. */

import { useRef } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { ChatVisitor } from "../../api/types";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { EmptyList } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { isAnonymous } from "../state/list/chats";
import { VISITORS_ROUTE } from "../state/page/page-routes";
import { useWorkspace } from "../workspace-context";
import { MergeForm } from "./merge-form";
import { readMergeSubject, withChanges, type MergeSubject } from "./merge-subject";
import { MergedVisitors } from "./merged-visitors";
import { t } from "../../texts/translate";

const LIST = { name: t`All visitors`, route: VISITORS_ROUTE };

export function MergePage({ number }: { number: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async (): Promise<MergeSubject | string> => {
    try {
      return (await readMergeSubject(api, number)) ?? t`The visitor has no chats.`;
    } catch (error) {
      if (hasStatus(error, 403, 404)) return t`The number is wrong, or you cannot see the visitor.`;
      throw error;
    }
  });
  return (
    <DetailPage loaded={loaded} what={t`The visitor`} list={LIST}>
      {(subject) =>
        typeof subject === "string" ? (
          <HiddenVisitor number={number} problem={subject} />
        ) : (
          <MergeSections subject={subject} onChanged={loaded.setValue} />
        )
      }
    </DetailPage>
  );
}

const HiddenVisitor = ({ number, problem }: { number: number; problem: string }) => (
  <div class="detail-page">
    <DetailHeader name={t`Visitor ${number}`} list={LIST} />
    <EmptyList icon="user-round" title={t`Visitor ${number} cannot be shown`} text={problem} />
  </div>
);

interface MergeSectionsProps {
  subject: MergeSubject;
  onChanged: (subject: MergeSubject) => void;
}

function MergeSections({ subject, onChanged }: MergeSectionsProps) {
  const { visitor, channels } = subject;
  const mergedHeading = useRef<HTMLHeadingElement>(null);
  const show = (changed: MergeSubject) => {
    onChanged(changed);
    // The button that had the focus disappears.
    mergedHeading.current?.focus();
  };
  return (
    <div class="detail-page">
      <DetailHeader name={t`Merge ${nameOf(visitor)}`} list={LIST} />
      <div class="detail-settings scroll">
        <Profile visitor={visitor} channel={channels.get(visitor.number)} />
        <MergedVisitors
          visitor={visitor}
          channels={channels}
          heading={mergedHeading}
          onSeparated={(changed) => show(withChanges(subject, changed))}
        />
        <MergeForm visitor={visitor} onMerged={(changed, other) => show(withChanges(subject, changed, [other]))} />
      </div>
    </div>
  );
}

const nameOf = ({ name, number }: ChatVisitor) => (isAnonymous(name) ? t`Visitor ${number}` : name);

function Profile({ visitor, channel }: { visitor: ChatVisitor; channel: string | undefined }) {
  const facts = [
    [t`Name`, isAnonymous(visitor.name) ? null : visitor.name],
    [t`Number`, String(visitor.number)],
    [t`E-mail`, visitor.email],
    [t`Phone`, visitor.phone],
    [t`Channel`, channel],
  ] as const;
  return (
    <FormSection title={t`Visitor`}>
      <dl class="facts">
        {facts.map(
          ([label, value]) =>
            value && [
              <dt key={label}>{label}</dt>,
              <dd key={`${label}-value`} dir="auto">
                {value}
              </dd>,
            ],
        )}
      </dl>
    </FormSection>
  );
}
