/* The preview of a picture, which the browser makes itself. */

const MAX_SIDE_PX = 320;
const QUALITY = 0.8;
/** The service accepts no larger previews. */
const MAX_THUMBNAIL_BYTES = 200 * 1024;

export interface Picture {
  width: number;
  height: number;
  /** Undefined if the picture itself is small. */
  thumb: Blob | undefined;
}

/** Returns the dimensions of a picture and its preview, or undefined if the browser cannot read it. */
export async function readPicture(file: Blob): Promise<Picture | undefined> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) return undefined;
  const { width, height } = bitmap;
  const scale = MAX_SIDE_PX / Math.max(width, height);
  const thumb = scale < 1 ? await scaled(bitmap, Math.round(width * scale), Math.round(height * scale)) : undefined;
  bitmap.close();
  return { width, height, thumb };
}

async function scaled(bitmap: ImageBitmap, width: number, height: number): Promise<Blob | undefined> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  // A browser that cannot write WebP writes PNG, which can be too large.
  for (const type of ["image/webp", "image/jpeg"]) {
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, QUALITY));
    if (blob !== null && blob.size <= MAX_THUMBNAIL_BYTES) return blob;
  }
  return undefined;
}
