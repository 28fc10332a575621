package elasticjob.peer;

import java.util.List;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.impl.SchedulerRepository;

/** The fire that a run belongs to. ElasticJob does not tell its jobs; the scheduler that it made for the job knows. */
final class Fire {

    private Fire() {
    }

    /**
     * The scheduled time of the fire that is being run: of a manual trigger, or of a failover, the moment it was asked for.
     *
     * @return milliseconds since 1970
     */
    static long scheduledMilliseconds(final String job) {
        Scheduler scheduler = SchedulerRepository.getInstance().lookup(job);
        try {
            List<JobExecutionContext> running = scheduler.getCurrentlyExecutingJobs();
            return running.get(0).getScheduledFireTime().getTime();
        } catch (final SchedulerException ex) {
            throw new IllegalStateException("no fire of " + job + " is being run", ex);
        }
    }
}
