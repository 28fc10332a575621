package elasticjob.peer;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.shardingsphere.elasticjob.api.ShardingContext;
import org.apache.shardingsphere.elasticjob.simple.job.SimpleJob;

/** A job that does nothing but note when its items began. */
public final class Begins implements SimpleJob {

    private final List<Begun> all = new ArrayList<>();

    /**
     * The begin of one item.
     *
     * @param scheduledMilliseconds its scheduled time, since 1970
     * @param microseconds when it began, since 1970
     */
    record Begun(long scheduledMilliseconds, long microseconds) {

        long late() {
            return microseconds - 1000 * scheduledMilliseconds;
        }
    }

    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    @Override
    public void execute(final ShardingContext context) {
        Begun begun = new Begun(Fire.scheduledMilliseconds(context.getJobName()), now());
        synchronized (all) {
            all.add(begun);
        }
    }

    /** Those that are wanted so far, in order. */
    List<Begun> of(final Predicate<Begun> isWanted) {
        synchronized (all) {
            return all.stream().filter(isWanted).toList();
        }
    }
}
