declare module "*.svg" {
  const address: string;
  export default address;
}
declare module "*.css";
/** The example programs of docs/examples, whose source the build includes as strings. */
declare module "*.py" {
  const text: string;
  export default text;
}
declare module "*.php" {
  const text: string;
  export default text;
}
declare module "*/integrator.js" {
  const text: string;
  export default text;
}
declare module "*/sender.js" {
  const text: string;
  export default text;
}
