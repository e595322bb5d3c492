/* The page on which an agent merges a visitor with another one who is the same person, and separates them again. */

import { useRef } from "preact/hooks";
import type { Visitor } from "../../api/types";
import { Facts } from "../../ui/facts";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { EmptyList } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { isAnonymous, visitorName } from "../state/list/chats";
import { VISITORS_ROUTE } from "../state/page/page-routes";
import { chatHref } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { MergeForm } from "./merge-form";
import { MergedVisitors } from "./merged-visitors";
import { visitorByNumber } from "./visitor-by-number";
import { t } from "../../texts/translate";

const LIST = { name: t`All visitors`, route: VISITORS_ROUTE };

export function MergePage({ number }: { number: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async () => (await visitorByNumber(api, number)) ?? "hidden");
  return (
    <DetailPage loaded={loaded} what={t`The visitor`} list={LIST}>
      {(visitor) =>
        visitor === "hidden" ? (
          <HiddenVisitor number={number} />
        ) : (
          <MergeSections visitor={visitor} onChanged={loaded.setValue} />
        )
      }
    </DetailPage>
  );
}

const HiddenVisitor = ({ number }: { number: number }) => (
  <div class="detail-page">
    <DetailHeader name={t`Visitor ${number}`} list={LIST} />
    <EmptyList
      icon="user-round"
      title={t`Visitor ${number} cannot be shown`}
      text={t`The number is wrong, or you cannot see the visitor.`}
    />
  </div>
);

interface MergeSectionsProps {
  visitor: Visitor;
  onChanged: (visitor: Visitor) => void;
}

function MergeSections({ visitor, onChanged }: MergeSectionsProps) {
  const mergedHeading = useRef<HTMLHeadingElement>(null);
  const show = (changed: Visitor) => {
    onChanged(changed);
    // The button that had the focus disappears.
    mergedHeading.current?.focus();
  };
  return (
    <div class="detail-page">
      <DetailHeader name={t`Merge ${visitorName({ visitor })}`} list={LIST} />
      <div class="detail-settings scroll">
        <Profile visitor={visitor} />
        <MergedVisitors visitor={visitor} heading={mergedHeading} onSeparated={show} />
        <MergeForm visitor={visitor} onMerged={show} />
      </div>
    </div>
  );
}

function Profile({ visitor }: { visitor: Visitor }) {
  const { last_chat_id: chatId } = visitor;
  const facts = [
    [t`Name`, isAnonymous(visitor.name) ? null : visitor.name],
    [t`Number`, String(visitor.number)],
    [t`E-mail`, visitor.email],
    [t`Phone`, visitor.phone],
    [
      t`Chat`,
      chatId !== undefined && (
        <a class="link" href={chatHref(chatId)}>
          #{chatId}
        </a>
      ),
    ],
  ] as const;
  return (
    <FormSection title={t`Visitor`}>
      <Facts facts={facts} />
    </FormSection>
  );
}
