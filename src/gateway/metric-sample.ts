/** One value of a metric whose text is written here, not by prom-client. */
export interface Sample {
  readonly metricName: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}
