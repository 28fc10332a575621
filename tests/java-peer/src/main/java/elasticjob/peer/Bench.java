package elasticjob.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.shardingsphere.elasticjob.api.JobConfiguration;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.JobBootstrap;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.OneOffJobBootstrap;
import org.apache.shardingsphere.elasticjob.lite.api.bootstrap.impl.ScheduleJobBootstrap;
import org.apache.shardingsphere.elasticjob.reg.base.CoordinatorRegistryCenter;
import org.quartz.CronExpression;

/**
 * Measures jobs as the program {@code bench} of the Rust tests does, on a server that nobody else uses meanwhile. The last
 * line is the same JSON object.
 */
final class Bench {

    private static final Gson GSON = new GsonBuilder().serializeNulls().create();

    /** Everything that was under way in a second is over by then. */
    private static final long QUIET_MILLISECONDS = 700;

    private final BenchArguments arguments;

    private final Begins begins = new Begins();

    private final List<JobBootstrap> jobs = new ArrayList<>();

    private Bench(final BenchArguments arguments) {
        this.arguments = arguments;
    }

    static void main(final String[] arguments) throws Exception {
        System.out.println(GSON.toJson(new Bench(BenchArguments.parse(arguments)).measure()));
    }

    private Map<String, Object> measure() throws Exception {
        CoordinatorRegistryCenter registry = new Registry(arguments.zookeeper(), arguments.namespace(), null, 0).connect();
        // Right after the begin of a second, so that a small number of jobs starts between two fires.
        sleepTo(Begins.now() / 1_000_000 * 1_000 + 1_020);
        Sample unstarted = Sample.take(arguments.zookeeper());
        start(registry);
        Sample started = Sample.take(arguments.zookeeper());

        // Items are assigned with the first fire; then one to warm up, then those that count.
        long first = (Begins.now() / 1_000_000 + 4) * 1_000;
        long end = first + 1_000L * arguments.seconds();
        sleepTo(first - 1_000 + QUIET_MILLISECONDS);
        Sample before = Sample.take(arguments.zookeeper());
        LongStream latencies = arguments.oneOff() ? execute() : null;
        sleepTo(end - 1_000 + QUIET_MILLISECONDS);
        Sample after = Sample.take(arguments.zookeeper());

        long[] late = begins.of(each -> arguments.oneOff() || first <= each.scheduledMilliseconds()
                && each.scheduledMilliseconds() < end).stream().mapToLong(Begins.Begun::late).toArray();
        int fires = (arguments.oneOff() ? arguments.seconds() : firesBetween(first, end)) * arguments.jobs();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("start_ms", (started.nanoseconds() - unstarted.nanoseconds()) / 1_000_000);
        result.put("registry_requests_start", started.packetsSince(unstarted));
        result.put("item_runs", late.length);
        result.put("expected_runs", arguments.items() * fires);
        result.put("lateness_us", percentiles(LongStream.of(late)));
        double perFire = Math.max(1, fires);
        result.put("registry_requests_per_fire", after.packetsSince(before) / perFire);
        result.put("registry_writes_per_fire", (after.transactions() - before.transactions()) / perFire);
        result.put("rss_kb", after.residentKilobytes());
        result.put("threads", after.threads());
        double seconds = (after.nanoseconds() - before.nanoseconds()) / 1e9;
        result.put("cpu_ms_per_s", Math.round((after.cpuMilliseconds() - before.cpuMilliseconds()) / seconds));
        if (null != latencies) {
            result.put("latency_us", percentiles(latencies));
        }
        return result;
    }

    private void start(final CoordinatorRegistryCenter registry) {
        for (int number = 0; number < arguments.jobs(); number++) {
            var builder = JobConfiguration.newBuilder("bench-" + number, arguments.items())
                    .monitorExecution(arguments.monitored()).failover(arguments.failover());
            if (arguments.oneOff()) {
                jobs.add(new OneOffJobBootstrap(registry, begins, builder.build()));
            } else {
                var job = new ScheduleJobBootstrap(registry, begins, builder.cron(arguments.cron()).build());
                job.schedule();
                jobs.add(job);
            }
        }
    }

    /** Triggers every job once a second, and measures the time to the begin of each item. */
    private LongStream execute() throws InterruptedException {
        LongStream.Builder result = LongStream.builder();
        for (int second = 0; second < arguments.seconds(); second++) {
            for (JobBootstrap each : jobs) {
                long asked = Begins.now();
                ((OneOffJobBootstrap) each).execute();
                Thread.sleep(900 / jobs.size());
                begins.of(begun -> begun.microseconds() >= asked).forEach(begun -> result.add(begun.microseconds() - asked));
            }
        }
        return result.build();
    }

    /** Fires of each job from a time to right before another. */
    private int firesBetween(final long first, final long end) throws ParseException {
        CronExpression cron = new CronExpression(arguments.cron());
        int result = 0;
        Date at = cron.getTimeAfter(new Date(first - 1));
        while (null != at && at.getTime() < end) {
            result++;
            at = cron.getTimeAfter(at);
        }
        return result;
    }

    private static void sleepTo(final long milliseconds) throws InterruptedException {
        Thread.sleep(Math.max(0, milliseconds - Begins.now() / 1_000));
    }

    private static Map<String, Long> percentiles(final LongStream values) {
        long[] sorted = values.sorted().toArray();
        Map<String, Long> result = new LinkedHashMap<>();
        Map<String, Double> parts = new LinkedHashMap<>();
        parts.put("p50", 0.5);
        parts.put("p99", 0.99);
        parts.put("max", 1.0);
        parts.forEach((name, part) ->
                result.put(name, 0 == sorted.length ? null : sorted[(int) Math.round((sorted.length - 1) * part)]));
        return result;
    }
}
