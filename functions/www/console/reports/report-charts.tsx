/* The sections of a report. */

import { useState } from "preact/hooks";
import type { DurationBuckets, Report, ReportTotals } from "../../api/types";
import { Segments } from "../../ui/form-fields";
import { formatSeconds } from "../../ui/time";
import { LoadFailure, Loading } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";
import { Legend } from "./chart-fill";
import { labelIndexes, timeTicks } from "./chart-scale";
import { ColumnChart } from "./column-chart";
import {
  agentTable,
  callSeries,
  callTable,
  channelSeries,
  channelTable,
  closedOf,
  columnRange,
  dayTable,
  durationColumns,
  durationTable,
  durationText,
  failuresOf,
  failureSeries,
  failureTable,
  formatCount,
  largestChannels,
  longDate,
  ratingSeries,
  settledSeries,
  shareText,
  tagTable,
  shortDate,
  shownReceivers,
  totalOf,
  type Series,
  type CountedUnit,
  type Unit,
  UNIT_NAMES,
} from "./report-model";
import { MeterTable, ReportSection } from "./report-section";
import { t } from "../../texts/translate";

interface SectionProps {
  report: Report;
  fileName: string;
}

const DAY_LABEL_WIDTH = 52;

interface DayChartProps {
  label: string;
  report: Report;
  series: readonly Series[];
  unit: Unit;
}

const DayChart = ({ label, report, series, unit }: DayChartProps) => (
  <ColumnChart
    label={label}
    columns={report.days.map(({ day }) => longDate(day))}
    series={series}
    ticks={(width) =>
      labelIndexes(report.days.length, Math.max(2, Math.floor(width / DAY_LABEL_WIDTH))).map((index) => ({
        at: index + 0.5,
        label: shortDate(report.days[index]?.day ?? ""),
      }))
    }
    unit={unit}
  />
);

const hasValues = (series: readonly Series[]) => series.some((one) => totalOf(one) > 0);
const Nothing = ({ text }: { text: string }) => <p class="quiet-text nothing">{text}</p>;

export function ChatsSection({ report, channelId, fileName }: SectionProps & { channelId: string }) {
  const [by, setBy] = useState<"settled" | "channel">("settled");
  const canCompare = channelId === "" && report.channels.length > 1;
  const isByChannel = canCompare && by === "channel";
  const { reports, problem, reload } = useChannelReports(isByChannel ? report : undefined);
  const series = !isByChannel ? settledSeries(report) : reports === undefined ? [] : channelSeries(report, reports);
  return (
    <ReportSection
      title={t`Chats a day`}
      legend={<Legend series={series} />}
      fileName={isByChannel ? `${fileName}-by-channel` : fileName}
      table={dayTable(report, series)}
    >
      {canCompare && (
        <Segments
          name="chats-by"
          label={t`Chats a day by`}
          hidesLabel
          value={by}
          options={[
            { value: "settled", label: t`By who settled them` },
            { value: "channel", label: t`By channel` },
          ]}
          onChange={setBy}
        />
      )}
      {!isByChannel || reports !== undefined ? (
        <DayChart label={t`Chats a day`} report={report} series={series} unit="chats" />
      ) : (
        <div class="chart-place">
          {problem === undefined ? (
            <Loading />
          ) : (
            <LoadFailure title={t`The channels could not be loaded`} text={problem} onRetry={reload} />
          )}
        </div>
      )}
    </ReportSection>
  );
}

/** Reads a report of each of the largest channels, for the same days as `report`. Reads nothing without a report. */
function useChannelReports(report: Report | undefined) {
  const { api } = useWorkspace();
  const key = report === undefined ? "" : JSON.stringify([report.days.map(({ day }) => day), report.total]);
  const { value, problem, reload } = useLoaded(async () => {
    if (report === undefined) return { key, reports: [] };
    const days = report.days.length;
    const read = async ({ channel_id, name }: { channel_id: string; name: string }) => ({
      name,
      report: await api.get("/admin/reports", { query: { days, channel_id } }),
    });
    return { key, reports: await Promise.all(largestChannels(report).map(read)) };
  }, key);
  // Leave out channel reports that were read for an earlier `report`.
  return { reports: value?.key === key ? value.reports : undefined, problem, reload };
}

interface DurationSectionProps {
  title: string;
  duration: ReportTotals["first_answer"];
  buckets: DurationBuckets;
  /** What is counted. */
  unit?: CountedUnit;
  /** The text that is shown if there are no durations. */
  nothing: string;
  fileName: string;
}

/** The distribution of durations. The range of each column is twice as long as that of the one before. */
export function DurationSection(props: DurationSectionProps) {
  const { title, duration, buckets, unit = "chats", nothing, fileName } = props;
  const columns = durationColumns(buckets);
  const first = columns[0]?.exponent ?? 0;
  const place = (seconds: number) => Math.max(0, Math.log2(seconds) - first);
  const { median, percentile_90: percentile } = duration;
  return (
    <ReportSection title={title} fileName={fileName} table={durationTable(columns, unit)}>
      {median === null || percentile === null ? (
        <Nothing text={nothing} />
      ) : (
        <ColumnChart
          label={title}
          columns={columns.map(columnRange)}
          series={[{ name: UNIT_NAMES[unit], fill: "accent", values: columns.map(({ count }) => count) }]}
          ticks={() => timeTicks(first, first + columns.length).map(({ at, label }) => ({ at: at - first, label }))}
          markers={[
            { at: place(percentile), label: t`90 % within ${formatSeconds(percentile)}` },
            { at: place(median), label: t`Half within ${formatSeconds(median)}` },
          ]}
          unit={unit}
        />
      )}
    </ReportSection>
  );
}

export function ChannelSection({ report, fileName }: SectionProps) {
  const channels = [...report.channels].sort((a, b) => b.totals.opened - a.totals.opened);
  return (
    <ReportSection title={t`Channels`} fileName={fileName} table={channelTable(report)} chart="wide-table">
      <MeterTable
        name={t`Channel`}
        measure={t`Chats`}
        columns={[
          t`First answer, median`,
          t`90th percentile`,
          t`Length, median`,
          t`By agents`,
          t`By the bot`,
          t`Rated positive`,
        ]}
        rows={channels.map(({ channel_id, name, totals }) => {
          const { opened, first_answer, length, settled_by, ratings } = totals;
          const closed = closedOf(totals);
          return {
            key: channel_id,
            name,
            value: opened,
            cells: [
              durationText(first_answer.median),
              durationText(first_answer.percentile_90),
              durationText(length.median),
              shareText(settled_by.agent, closed),
              shareText(settled_by.bot, closed),
              shareText(ratings.positive, ratings.positive + ratings.negative),
            ],
          };
        })}
      />
    </ReportSection>
  );
}

export function AgentSection({ report, fileName }: SectionProps) {
  const table = agentTable(report);
  return (
    <ReportSection title={t`Agents`} fileName={fileName} table={table} chart="table">
      {table.rows.length === 0 ? (
        <Nothing text={t`No agent took part in a closed chat.`} />
      ) : (
        <MeterTable
          name={t`Agent`}
          measure={t`Chats`}
          columns={[t`Of the closed`]}
          rows={table.rows.map(([name, chats], index) => ({
            key: index,
            name: String(name),
            value: Number(chats),
            cells: [shareText(Number(chats), closedOf(report.total))],
          }))}
        />
      )}
    </ReportSection>
  );
}

export const hasTags = (report: Report) => (report.tags ?? []).length > 0;

export function TagSection({ report, fileName }: SectionProps) {
  const table = tagTable(report);
  return (
    <ReportSection title={t`Tags`} fileName={fileName} table={table} chart="table">
      <MeterTable
        name={t`Tag`}
        measure={t`Chats`}
        columns={[t`Of the closed`]}
        rows={table.rows.map(([name, chats], index) => ({
          key: index,
          name: String(name),
          value: Number(chats),
          cells: [shareText(Number(chats), closedOf(report.total))],
        }))}
      />
    </ReportSection>
  );
}

export const hasCalls = (report: Report) => hasValues(callSeries(report));

export function CallSection({ report, fileName }: SectionProps) {
  const series = callSeries(report);
  return (
    <ReportSection
      title={t`Calls a day`}
      legend={<Legend series={series} />}
      fileName={fileName}
      table={callTable(report)}
    >
      <DayChart label={t`Calls a day`} report={report} series={series} unit="calls" />
    </ReportSection>
  );
}

export function RatingSection({ report, fileName }: SectionProps) {
  const series = ratingSeries(report);
  return (
    <ReportSection
      title={t`Ratings a day`}
      legend={<Legend series={series} />}
      fileName={fileName}
      table={dayTable(report, series)}
    >
      {hasValues(series) ? (
        <DayChart label={t`Ratings a day`} report={report} series={series} unit="ratings" />
      ) : (
        <Nothing text={t`No chat was rated.`} />
      )}
    </ReportSection>
  );
}

export function FailureSection({ report, fileName }: SectionProps) {
  const series = failureSeries(report);
  return (
    <ReportSection
      title={t`Failed deliveries a day`}
      legend={<Legend series={series} />}
      fileName={fileName}
      table={dayTable(report, series)}
    >
      {hasValues(series) ? (
        <DayChart label={t`Failed deliveries a day`} report={report} series={series} unit="failed" />
      ) : (
        <Nothing text={t`Every delivery has arrived.`} />
      )}
    </ReportSection>
  );
}

export function FailedChannelSection({ report, fileName }: SectionProps) {
  const failing = report.channels
    .filter(({ totals }) => failuresOf(totals) > 0)
    .sort((a, b) => failuresOf(b.totals) - failuresOf(a.totals));
  const receivers = shownReceivers(report);
  return (
    <ReportSection
      title={t`Failed deliveries by channel`}
      fileName={fileName}
      table={failureTable(report)}
      chart={failing.length === 0 ? "table" : "wide-table"}
    >
      {failing.length === 0 ? (
        <Nothing text={t`Every delivery has arrived.`} />
      ) : (
        <MeterTable
          name={t`Channel`}
          measure={t`Failed`}
          isBad
          columns={receivers.map(({ failed }) => failed)}
          rows={failing.map(({ channel_id, name, totals }) => ({
            key: channel_id,
            name,
            value: failuresOf(totals),
            cells: receivers.map(({ reportField }) => formatCount(totals.failed_deliveries[reportField])),
          }))}
        />
      )}
    </ReportSection>
  );
}
