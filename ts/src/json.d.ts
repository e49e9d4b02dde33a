/** JSON files are bundled by the build; what the spec's table holds is said where it is imported. */
declare module "*/unicode-18.0.json" {
  const value: unknown;
  export default value;
}

declare module "*/package.json" {
  export const version: string;
}
