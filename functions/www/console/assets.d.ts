declare module "*.svg" {
  const address: string;
  export default address;
}
declare module "*.css";
/** The example servers of docs/examples, whose source the build includes as strings. */
declare module "*/integrator.py" {
  const text: string;
  export default text;
}
declare module "*/integrator.js" {
  const text: string;
  export default text;
}
declare module "*/integrator.php" {
  const text: string;
  export default text;
}
