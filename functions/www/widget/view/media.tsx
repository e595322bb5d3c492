/** @jsxImportSource #widget */
/* Pictures, videos, audio, files and locations (specification, A3). Media that cannot be loaded become links. */

import { MEDIA_TYPES, SHOWN_TYPES } from "../../ui/media-types";
import { safeMedia } from "../chat/safe-address";
import type { Message } from "../service/types";
import type { Texts } from "../texts";
import type { Props } from "./props";
import { FileIcon, PlaceIcon } from "./icons";

const MAX_WIDTH = 240;
const MAX_HEIGHT = 280;

export const isMedia = ({ type }: Message): boolean => MEDIA_TYPES.has(type);

function formatSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** unit).toFixed(unit > 1 ? 1 : 0)} ${units[unit]}`;
}

function kindName({ type }: Message, texts: Texts): string {
  if (type === "photo" || type === "video" || type === "audio") return texts[type];
  return type === "voice" ? texts.audio : type === "location" ? texts.location : texts.file;
}

/** Returns the name of a picture, file or location. */
export const mediaName = (message: Message, texts: Texts): string =>
  message.emoji || message.file_name || kindName(message, texts);

/** Returns the size in CSS pixels at which a picture or video is shown. The space is reserved before it loads. */
function fit({ width, height, type }: Message): { width: number; height: number } {
  const limit = type === "sticker" ? 128 : MAX_WIDTH;
  if (!width || !height) return { width: limit, height: type === "sticker" ? limit : (limit * 3) / 4 };
  const scale = Math.min(1, limit / width, MAX_HEIGHT / height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

export function Media({ message, state, actions }: Props & { message: Message }) {
  const { texts, broken } = state;
  const { type, latitude, longitude, text, emoji, title, performer, file_name, file_size } = message;
  const kind = kindName(message, texts);
  if (type === "location" && latitude !== undefined && longitude !== undefined)
    return (
      <FileLink
        href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`}
        title={title || texts.location}
        detail={`${latitude.toFixed(4)}, ${longitude.toFixed(4)}`}
        isPlace
      />
    );
  const file = safeMedia(message.file);
  if (file === undefined) return <p class="bubble">{emoji || file_name || kind}</p>;
  const onError = () => actions.mediaFailed(file);
  if (broken.has(file) || !SHOWN_TYPES.has(type))
    return (
      <FileLink href={file} title={title || file_name || kind} detail={file_size ? formatSize(file_size) : kind} />
    );
  const thumb = safeMedia(message.thumb);
  if (type === "photo" || type === "sticker")
    return (
      <a class={type} href={file} target="_blank" rel="noopener noreferrer">
        <img
          src={(type === "photo" && thumb) || file}
          alt={text || emoji || file_name || kind}
          {...fit(message)}
          onError={onError}
        />
      </a>
    );
  if (type === "video")
    return (
      <video
        class="photo"
        src={file}
        controls
        preload={thumb ? "none" : "metadata"}
        poster={thumb}
        {...fit(message)}
        aria-label={title || file_name || kind}
        onError={onError}
      />
    );
  const label = [performer, title].filter(Boolean).join(" – ");
  return (
    <figure class="sound">
      {label && <figcaption>{label}</figcaption>}
      <audio src={file} controls preload="none" aria-label={label || file_name || kind} onError={onError} />
    </figure>
  );
}

const FileLink = (props: { href: string; title: string; detail: string; isPlace?: boolean }) => (
  <a class="file" href={props.href} target="_blank" rel="noopener noreferrer nofollow">
    {props.isPlace ? <PlaceIcon /> : <FileIcon />}
    <span>
      <b>{props.title}</b>
      <small>{props.detail}</small>
    </span>
  </a>
);
