/* Shows images, videos, audio, files and locations (specification, A-3). Space is reserved for them before they
   load. */

import { useState } from "preact/hooks";
import type { Entry } from "../../api/types";
import { Icon, type IconName } from "../../ui/icons";
import { BLOCKED_LINK, LinkedText } from "../../ui/linked-text";
import { MEDIA_TYPES } from "../../ui/media-types";
import { formatDecimal } from "../../ui/words";
import { t } from "../../texts/translate";

const MAX_WIDTH_PX = 320;
const MAX_HEIGHT_PX = 360;
const DEFAULT_IMAGE_SIZE = { width: 240, height: 180 };

export const isMedia = (entry: Entry) => MEDIA_TYPES.has(entry.type);

const isWebUrl = (address: string | undefined): address is string =>
  address !== undefined && /^https?:\/\//i.test(address);

/** Returns the size in pixels at which to show an image: its own size, or a smaller one if it does not fit into the
 * message log. Returns a default size if the image's size is unknown. */
export function fitImage(width: number | undefined, height: number | undefined): { width: number; height: number } {
  if (width === undefined || height === undefined) return DEFAULT_IMAGE_SIZE;
  const scale = Math.min(1, MAX_WIDTH_PX / width, MAX_HEIGHT_PX / height);
  return { width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)) };
}

/** Formats a file size in decimal units, for example 1.2 MB. */
export function formatFileSize(bytes: number | undefined): string {
  if (bytes === undefined) return "";
  if (bytes < 1000) return t`${bytes} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? formatDecimal(value) : Math.round(value)} ${units[unit]}`;
}

export function formatPlayTime(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

const FILE_ICONS: Record<string, IconName> = {
  photo: "image",
  sticker: "smile",
  video: "video",
  audio: "music",
  voice: "mic",
  document: "file",
};

export function Media({ entry }: { entry: Entry }) {
  const [isBroken, setBroken] = useState(false);
  const caption = entry.text ? (
    <p class="caption" dir="auto">
      <LinkedText text={entry.text} />
    </p>
  ) : null;
  const content =
    entry.type === "location" ? (
      <LocationCard entry={entry} />
    ) : entry.file === BLOCKED_LINK ? (
      <BlockedFile entry={entry} />
    ) : isBroken ? (
      <FileCard entry={entry} hint={t`cannot be shown here`} />
    ) : entry.type === "photo" || entry.type === "sticker" ? (
      <ImagePreview entry={entry} onBroken={() => setBroken(true)} />
    ) : entry.type === "video" ? (
      <VideoPlayer entry={entry} onBroken={() => setBroken(true)} />
    ) : entry.type === "audio" || entry.type === "voice" ? (
      <AudioPlayer entry={entry} />
    ) : (
      <FileCard entry={entry} />
    );
  return (
    <div
      class={
        entry.type === "sticker" && !isBroken && entry.file !== BLOCKED_LINK ? "bubble media plain" : "bubble media"
      }
    >
      {content}
      {caption}
    </div>
  );
}

function ImagePreview({ entry, onBroken }: { entry: Entry; onBroken: () => void }) {
  const size =
    entry.type === "sticker" && entry.width === undefined
      ? { width: 128, height: 128 }
      : fitImage(entry.width, entry.height);
  const source = isWebUrl(entry.thumb) ? entry.thumb : entry.file;
  if (!isWebUrl(entry.file) || !isWebUrl(source)) return <FileCard entry={entry} />;
  const isSizeKnown = entry.width !== undefined && entry.height !== undefined;
  const title = [
    entry.file_name,
    formatFileSize(entry.file_size),
    isSizeKnown ? `${entry.width} × ${entry.height}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
  return (
    <a
      class={`frame ${isSizeKnown ? "" : "unknown"} ${entry.type === "sticker" ? "sticker" : ""}`}
      href={entry.file}
      target="_blank"
      rel="noopener noreferrer"
      title={title}
      style={{ width: `${size.width}px`, aspectRatio: `${size.width} / ${size.height}` }}
    >
      <img
        src={source}
        alt={entry.emoji ?? entry.text ?? entry.file_name ?? t`Picture`}
        width={size.width}
        height={size.height}
        loading="lazy"
        decoding="async"
        referrerpolicy="no-referrer"
        onError={onBroken}
      />
    </a>
  );
}

function VideoPlayer({ entry, onBroken }: { entry: Entry; onBroken: () => void }) {
  const size = fitImage(entry.width ?? 320, entry.height ?? 180);
  return (
    <>
      <div class="frame" style={{ width: `${size.width}px`, aspectRatio: `${size.width} / ${size.height}` }}>
        <video
          controls
          preload="none"
          src={entry.file}
          poster={isWebUrl(entry.thumb) ? entry.thumb : undefined}
          width={size.width}
          height={size.height}
          aria-label={entry.title ?? entry.file_name ?? t`Video`}
          onError={onBroken}
        />
      </div>
      <MediaInfo entry={entry} />
    </>
  );
}

function AudioPlayer({ entry }: { entry: Entry }) {
  return (
    <>
      <audio controls preload="none" src={entry.file} aria-label={entry.title ?? entry.file_name ?? t`Sound`} />
      <MediaInfo entry={entry} />
    </>
  );
}

function MediaInfo({ entry }: { entry: Entry }) {
  const name = [entry.performer, entry.title].filter(Boolean).join(" – ") || entry.file_name;
  return (
    <p class="info">
      <span class="clip" dir="auto">
        {entry.type === "voice" ? t`Voice message` : name}
      </span>
      <span>{[formatPlayTime(entry.duration), formatFileSize(entry.file_size)].filter(Boolean).join(" · ")}</span>
      {isWebUrl(entry.file) && (
        <a class="link" href={entry.file} target="_blank" rel="noopener noreferrer">
          {t`Open`}
        </a>
      )}
    </p>
  );
}

function FileCard({ entry, hint }: { entry: Entry; hint?: string }) {
  const details = [formatFileSize(entry.file_size), hint].filter(Boolean).join(" · ");
  const content = (
    <>
      <span class="sign">
        <Icon name={FILE_ICONS[entry.type] ?? "file"} />
      </span>
      <span>
        <b dir="auto">{entry.title ?? entry.file_name ?? t`File`}</b>
        <small>{details}</small>
      </span>
    </>
  );
  if (!isWebUrl(entry.file)) return <div class="file">{content}</div>;
  return (
    <a class="file" href={entry.file} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  );
}

function BlockedFile({ entry }: { entry: Entry }) {
  return (
    <div class="file">
      <span class="sign">
        <Icon name="shield-off" />
      </span>
      <span>
        <b dir="auto">{entry.file_name ?? t`File`}</b>
        <small>{t`Link blocked: Safe URL does not allow its domain`}</small>
      </span>
    </div>
  );
}

function LocationCard({ entry }: { entry: Entry }) {
  const { latitude, longitude } = entry;
  if (latitude === undefined || longitude === undefined) return <FileCard entry={entry} />;
  const coordinates = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  const address = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`;
  return (
    <a class="file" href={address} target="_blank" rel="noopener noreferrer">
      <span class="sign">
        <Icon name="map-pin" />
      </span>
      <span>
        <b dir="auto">{entry.title ?? t`Location`}</b>
        <small>{t`${coordinates} · open a map`}</small>
      </span>
    </a>
  );
}
