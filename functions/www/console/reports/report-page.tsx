/* The report of the last days: figures with a comparison, charts, and the tables with the same numbers. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Report } from "../../api/types";
import { announce } from "../../ui/announcer";
import { Segments } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { FilterSelect } from "../admin/filter-select";
import { EmptyList, LoadFailure, Loading } from "../admin/list-page";
import { RefreshButton } from "../admin/paged-list";
import { useLoaded } from "../admin/use-loaded";
import { SETTINGS_ROUTE } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { ChartPatterns } from "./chart-fill";
import { dateRange, figuresOf, PERIODS, type Days, type Figure, formatUnits } from "./report-model";
import {
  AgentSection,
  hasTags,
  TagSection,
  CallSection,
  ChannelSection,
  ChatsSection,
  DurationSection,
  FailedChannelSection,
  FailureSection,
  hasCalls,
  RatingSection,
} from "./report-charts";
import { inSentence } from "../../ui/words";
import { rich, t } from "../../texts/translate";

/** What a report is about. */
export interface ReportScope {
  days: Days;
  /** Empty for all channels. */
  channelId: string;
}

export function ReportPage({ tabs }: { tabs: ComponentChildren }) {
  const { api } = useWorkspace();
  const [scope, setScope] = useState<ReportScope>({ days: "30", channelId: "" });
  const channels = useLoaded(async () => (await api.get("/admin/channels")).channels).value ?? [];
  const loaded = useLoaded(() => {
    const { days, channelId } = scope;
    const channel = channelId === "" ? {} : { channel_id: channelId };
    return api.get("/admin/reports", { query: { days: Number(days), ...channel } });
  }, JSON.stringify(scope));
  const { value: report, problem, isLoading, reload } = loaded;
  useEffect(() => {
    if (report !== undefined && !isLoading) announce(formatUnits(report.total.opened, "chats"));
  }, [report, isLoading]);
  const channelName = channels.find(({ channel_id }) => channel_id === scope.channelId)?.name;
  return (
    <div class="table-page report-page">
      <header>
        <h2>{t`Reports`}</h2>
        {tabs}
        <span class="grow" />
        <RefreshButton onClick={reload} />
        <button type="button" class="btn only-icon" aria-label={t`Print`} title={t`Print`} onClick={() => print()}>
          <Icon name="printer" />
        </button>
      </header>
      <div class="scroll">
        <div class="filters" role="search" aria-label={t`Choose a report`}>
          <Segments
            name="days"
            label={t`Period`}
            hidesLabel
            value={scope.days}
            options={PERIODS}
            onChange={(days) => setScope({ ...scope, days })}
          />
          {channels.length > 1 && (
            <FilterSelect
              label={t`Channel`}
              value={scope.channelId}
              options={[
                { value: "", label: t`Any channel` },
                ...channels.map(({ channel_id, name }) => ({ value: channel_id, label: name })),
              ]}
              onChange={(channelId) => setScope({ ...scope, channelId })}
            />
          )}
          {report !== undefined && problem === undefined && <Period report={report} channelName={channelName} />}
        </div>
        {problem !== undefined ? (
          <LoadFailure title={t`The report could not be loaded`} text={problem} onRetry={reload} />
        ) : report === undefined ? (
          <Loading />
        ) : (
          <ReportView report={report} channelId={scope.channelId} isLoading={isLoading} />
        )}
      </div>
    </div>
  );
}

function Period({ report, channelName }: { report: Report; channelName: string | undefined }) {
  return (
    <p class="period">
      {channelName !== undefined && (
        <span class="print-only" dir="auto">
          {channelName},{" "}
        </span>
      )}
      {rich`${dateRange(report.days)}, days in ${(
        <a class="link" href={hrefOf(SETTINGS_ROUTE)}>
          {report.time_zone.replaceAll("_", " ")}
        </a>
      )}`}
    </p>
  );
}

interface ReportViewProps {
  report: Report;
  channelId: string;
  isLoading: boolean;
}

function ReportView({ report, channelId, isLoading }: ReportViewProps) {
  const element = useRef<HTMLDivElement>(null);
  useTablesOnPaper(element);
  const period = PERIODS.find(({ value }) => Number(value) === report.days.length)?.label;
  if (report.total.opened === 0)
    return (
      <EmptyList
        icon="chart-column"
        title={report.days.length === 1 ? t`No chats yet today` : t`No chats in ${inSentence(period ?? "")}`}
        text={t`Chats count on the day on which they were opened. Choose a longer time, or another channel.`}
      />
    );
  const scope = `${report.days[0]?.day ?? ""}-to-${report.days.at(-1)?.day ?? ""}${channelId === "" ? "" : `-${channelId}`}`;
  const nameOf = (what: string) => `${what}-${scope}`;
  return (
    <div ref={element} class="report" aria-busy={isLoading}>
      <ChartPatterns />
      <div class="figures">
        {figuresOf(report).map((figure) => (
          <FigureCard key={figure.name} {...figure} />
        ))}
      </div>
      <ChatsSection report={report} channelId={channelId} fileName={nameOf("chats-a-day")} />
      <div class="two">
        <DurationSection
          title={t`First answer`}
          duration={report.total.first_answer}
          buckets={report.distributions.first_answer}
          nothing={t`No chat was answered by an agent.`}
          fileName={nameOf("first-answer")}
        />
        <DurationSection
          title={t`Length of chats`}
          duration={report.total.length}
          buckets={report.distributions.length}
          nothing={t`No chat was closed.`}
          fileName={nameOf("length")}
        />
      </div>
      <ChannelSection report={report} fileName={nameOf("channels")} />
      {hasCalls(report) && (
        <div class="two">
          <CallSection report={report} fileName={nameOf("calls")} />
          <DurationSection
            title={t`Talk time of calls`}
            duration={report.total.talk_time}
            buckets={report.distributions.talk_time}
            unit="calls"
            nothing={t`No call was answered.`}
            fileName={nameOf("talk-time")}
          />
        </div>
      )}
      <div class="two">
        <AgentSection report={report} fileName={nameOf("agents")} />
        <RatingSection report={report} fileName={nameOf("ratings")} />
      </div>
      <div class="two">
        <FailureSection report={report} fileName={nameOf("failed-deliveries-a-day")} />
        <FailedChannelSection report={report} fileName={nameOf("failed-deliveries")} />
      </div>
      {hasTags(report) && <TagSection report={report} fileName={nameOf("tags")} />}
      <p class="quiet-text footnote">
        {t`Everything counts on the day on which its chat was opened. Medians and percentiles are exact within ${Math.round(report.percentile_error * 1000) / 10}\u00a0%.`}
      </p>
    </div>
  );
}

const FigureCard = ({ name, value, note, tone }: Figure) => (
  <section class="figure">
    <h3>{name}</h3>
    <p class="num">{value}</p>
    <small class={tone}>{note}</small>
  </section>
);

/** Opens the tables while the page is printed. */
function useTablesOnPaper(element: { current: HTMLElement | null }) {
  useEffect(() => {
    let opened: HTMLDetailsElement[] = [];
    const open = () => {
      opened = [...(element.current?.querySelectorAll<HTMLDetailsElement>("details:not([open])") ?? [])];
      for (const details of opened) details.open = true;
    };
    const close = () => {
      for (const details of opened) details.open = false;
    };
    addEventListener("beforeprint", open);
    addEventListener("afterprint", close);
    return () => {
      removeEventListener("beforeprint", open);
      removeEventListener("afterprint", close);
    };
  }, []);
}
