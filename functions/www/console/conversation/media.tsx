/* Pictures, films, sounds, files and places (specification A3). Room is reserved before anything is loaded. */

import { useState } from "preact/hooks";
import type { Entry } from "../../api/types";
import { Icon, type IconName } from "../../ui/icons";
import { BLOCKED, Words } from "../../ui/text";

const TYPES = new Set(["photo", "sticker", "video", "audio", "voice", "document", "location"]);
const MAX_WIDTH = 320;
const MAX_HEIGHT = 360;
const UNKNOWN = { width: 240, height: 180 };

export const isMedia = (entry: Entry) => TYPES.has(entry.type);

const isWeb = (address: string | undefined): address is string =>
  address !== undefined && /^https?:\/\//i.test(address);

/** The room of a picture: its own size, brought down to what the log shows. */
export function roomFor(width: number | undefined, height: number | undefined): { width: number; height: number } {
  if (width === undefined || height === undefined) return UNKNOWN;
  const scale = Math.min(1, MAX_WIDTH / width, MAX_HEIGHT / height);
  return { width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)) };
}

/** 1.2 MB, in the units that people compare. */
export function fileSize(bytes: number | undefined): string {
  if (bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function playTime(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

const SIGNS: Record<string, IconName> = {
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
      <Words text={entry.text} />
    </p>
  ) : null;
  const content =
    entry.type === "location" ? (
      <Place entry={entry} />
    ) : entry.file === BLOCKED ? (
      <BlockedFile entry={entry} />
    ) : isBroken ? (
      <FileCard entry={entry} hint="cannot be shown here" />
    ) : entry.type === "photo" || entry.type === "sticker" ? (
      <Picture entry={entry} onBroken={() => setBroken(true)} />
    ) : entry.type === "video" ? (
      <Film entry={entry} onBroken={() => setBroken(true)} />
    ) : entry.type === "audio" || entry.type === "voice" ? (
      <Sound entry={entry} />
    ) : (
      <FileCard entry={entry} />
    );
  return (
    <div
      class={entry.type === "sticker" && !isBroken && entry.file !== BLOCKED ? "bubble media plain" : "bubble media"}
    >
      {content}
      {caption}
    </div>
  );
}

function Picture({ entry, onBroken }: { entry: Entry; onBroken: () => void }) {
  const room =
    entry.type === "sticker" && entry.width === undefined
      ? { width: 128, height: 128 }
      : roomFor(entry.width, entry.height);
  const source = isWeb(entry.thumb) ? entry.thumb : entry.file;
  if (!isWeb(entry.file) || !isWeb(source)) return <FileCard entry={entry} />;
  const known = entry.width !== undefined && entry.height !== undefined;
  const title = [entry.file_name, fileSize(entry.file_size), known ? `${entry.width} × ${entry.height}` : ""]
    .filter(Boolean)
    .join(" · ");
  return (
    <a
      class={`frame ${known ? "" : "unknown"} ${entry.type === "sticker" ? "sticker" : ""}`}
      href={entry.file}
      target="_blank"
      rel="noopener noreferrer"
      title={title}
      style={{ width: `${room.width}px`, aspectRatio: `${room.width} / ${room.height}` }}
    >
      <img
        src={source}
        alt={entry.emoji ?? entry.text ?? entry.file_name ?? "Picture"}
        width={room.width}
        height={room.height}
        loading="lazy"
        decoding="async"
        referrerpolicy="no-referrer"
        onError={onBroken}
      />
    </a>
  );
}

function Film({ entry, onBroken }: { entry: Entry; onBroken: () => void }) {
  const room = roomFor(entry.width ?? 320, entry.height ?? 180);
  return (
    <>
      <div class="frame" style={{ width: `${room.width}px`, aspectRatio: `${room.width} / ${room.height}` }}>
        <video
          controls
          preload="none"
          src={entry.file}
          poster={isWeb(entry.thumb) ? entry.thumb : undefined}
          width={room.width}
          height={room.height}
          aria-label={entry.title ?? entry.file_name ?? "Video"}
          onError={onBroken}
        />
      </div>
      <Info entry={entry} />
    </>
  );
}

function Sound({ entry }: { entry: Entry }) {
  return (
    <>
      <audio controls preload="none" src={entry.file} aria-label={entry.title ?? entry.file_name ?? "Sound"} />
      <Info entry={entry} />
    </>
  );
}

function Info({ entry }: { entry: Entry }) {
  const name = [entry.performer, entry.title].filter(Boolean).join(" – ") || entry.file_name;
  return (
    <p class="info">
      <span class="clip" dir="auto">
        {entry.type === "voice" ? "Voice message" : name}
      </span>
      <span>{[playTime(entry.duration), fileSize(entry.file_size)].filter(Boolean).join(" · ")}</span>
      {isWeb(entry.file) && (
        <a class="link" href={entry.file} target="_blank" rel="noopener noreferrer">
          Open
        </a>
      )}
    </p>
  );
}

function FileCard({ entry, hint }: { entry: Entry; hint?: string }) {
  const about = [fileSize(entry.file_size), hint].filter(Boolean).join(" · ");
  const inside = (
    <>
      <span class="sign">
        <Icon name={SIGNS[entry.type] ?? "file"} />
      </span>
      <span>
        <b dir="auto">{entry.title ?? entry.file_name ?? "File"}</b>
        <small>{about}</small>
      </span>
    </>
  );
  if (!isWeb(entry.file)) return <div class="file">{inside}</div>;
  return (
    <a class="file" href={entry.file} target="_blank" rel="noopener noreferrer">
      {inside}
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
        <b dir="auto">{entry.file_name ?? "File"}</b>
        <small>Link blocked: Safe URL does not allow its domain</small>
      </span>
    </div>
  );
}

function Place({ entry }: { entry: Entry }) {
  const { latitude, longitude } = entry;
  if (latitude === undefined || longitude === undefined) return <FileCard entry={entry} />;
  const at = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  const address = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`;
  return (
    <a class="file" href={address} target="_blank" rel="noopener noreferrer">
      <span class="sign">
        <Icon name="map-pin" />
      </span>
      <span>
        <b dir="auto">{entry.title ?? "Location"}</b>
        <small>{at} · open a map</small>
      </span>
    </a>
  );
}
